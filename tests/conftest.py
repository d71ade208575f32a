"""One thread for all arithmetic: several wait for each other when the machine is busy.

Measured on two cores with two other programs running: the pronoun training's tests took 61 s with
two threads and 12 s with one. The environment is set too, for the kernels and commands that tests
start, and before torch is imported, which reads it.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import torch

torch.set_num_threads(1)

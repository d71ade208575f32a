"""Exercises that check themselves: the checker, and one module for each chapter."""

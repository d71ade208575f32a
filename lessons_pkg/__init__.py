"""The companion package of the course: attention and the transformer, built piece by piece.

===================  ==========================  ==========================================
chapter              module                      public names
===================  ==========================  ==========================================
0 Before attention   corpus.vocabulary           Vocabulary
1 Raw dot products   attention.dot_product       scores, softmax, weighted_sum, attend
2 Trainable QKV      attention.projections       Projections
2 Trainable QKV      corpus.pronouns             PronounTask, pronoun_task
2 Trainable QKV      training.pronouns           PronounRun, train_pronouns, recorded_run
===================  ==========================  ==========================================

A test reads this table and requires that each module has just these public names.
"""

__version__ = "0.1.0"

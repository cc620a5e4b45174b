"""A trial of a model: which forms of replies work, how fast it is, and what a failure will take."""

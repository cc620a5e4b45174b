"""What a trace is: domain models, ids, kinds, errors and migrations."""

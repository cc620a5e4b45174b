"""What a trace is: domain models, ids, kinds, errors, and the texts of queries and migrations."""

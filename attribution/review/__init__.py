"""People's work on failures: verdicts, labels and annotation."""

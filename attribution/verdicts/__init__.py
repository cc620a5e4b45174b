"""Verdicts on failures: their record, how sure they are, and reading them from a store."""

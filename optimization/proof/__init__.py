"""Proves verdicts: runs the program again with the blamed operation corrected."""

"""The structure of one trace in memory, and walks through it."""

"""Blame across failures: which operations, prompts, memory units and sessions did most harm."""

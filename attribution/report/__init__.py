"""Reports: what goes wrong in a memory system, how often, where, and what to change first."""

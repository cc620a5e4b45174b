"""A small rule-based memory agent, recorded as an execution graph; see ``examples/README.md``."""

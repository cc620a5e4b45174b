"""A memory of facts that are extracted, updated and deleted: ``python -m examples.facts_agent``."""

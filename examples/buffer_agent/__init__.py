"""A memory that is one long buffer: ``python -m examples.buffer_agent``."""

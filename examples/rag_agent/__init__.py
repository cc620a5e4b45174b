"""A memory that is a full-text index of chunks: ``python -m examples.rag_agent``."""

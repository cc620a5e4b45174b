"""Data sets of conversations with questions: a module per published form, and our own form of JSON lines."""

"""Data sets of conversations with questions: one module a published form, and a plain form of lines of JSON."""

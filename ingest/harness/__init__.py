"""Runs a memory system over the conversations of a data set, and records it: what it is told, asked, and how it is judged."""

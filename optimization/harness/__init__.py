"""Runs a memory system over the conversations of a data set, recorded: what it is told and asked, and who judges."""

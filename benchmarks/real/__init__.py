"""Recorded runs of real memory systems with a real model; see README.md beside this file."""

"""Principals: their keys and tokens, and their role in each project."""

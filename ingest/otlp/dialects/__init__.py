"""Dialects: what the attributes of instrumentations mean. A new one is a module and a word in the registry."""

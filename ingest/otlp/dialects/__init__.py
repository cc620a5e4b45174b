"""Dialects: the meaning of different instrumentations' attributes. A new dialect is a module and a registry entry."""

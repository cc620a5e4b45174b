"""Requests that nobody would send, by the thousand."""

"""Servers and commands that run on this machine: their processes, their ports, their private files."""

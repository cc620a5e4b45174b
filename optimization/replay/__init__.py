"""Prepares replays of a stored trace's program."""

"""Texts of the bare queries that the stores are measured against."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def query(name: str) -> str:
    """The text of a file of this folder."""
    return files(__name__).joinpath(name).read_text("utf-8")

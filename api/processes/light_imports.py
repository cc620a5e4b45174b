"""Importing libraries without parts of theirs that nothing here uses, so that the server starts faster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel


@contextmanager
def without(package: str) -> Iterator[None]:
    """Have libraries find that a package is not installed which they use only where it is."""
    module = sys.modules.pop(package, None)
    sys.modules[package] = None  # type: ignore[assignment]  # an import of it fails
    try:
        yield
    finally:
        del sys.modules[package]
        if module is not None:
            sys.modules[package] = module


def leave_out(package: str) -> None:
    """Have libraries find for good that a package is not installed; nothing if it is loaded already."""
    sys.modules.setdefault(package, None)  # type: ignore[arg-type]  # an import of it fails


@contextmanager
def models_made_when_used() -> Iterator[None]:
    """Have Pydantic make the validators of the models that are defined meanwhile when they are first used."""
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]

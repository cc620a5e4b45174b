"""Importing libraries without their unused parts, so that the server starts faster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel


@contextmanager
def without(package: str) -> Iterator[None]:
    """Hide an optional package from the libraries that are imported meanwhile, as if it were not installed."""
    module = sys.modules.pop(package, None)
    sys.modules[package] = None  # type: ignore[assignment]  # importing the package fails
    try:
        yield
    finally:
        del sys.modules[package]
        if module is not None:
            sys.modules[package] = module


def leave_out(package: str) -> None:
    """Hide an optional package from libraries for good. A package that is loaded already stays visible."""
    sys.modules.setdefault(package, None)  # type: ignore[arg-type]  # importing the package fails


@contextmanager
def models_made_when_used() -> Iterator[None]:
    """Have Pydantic defer validators: models that are defined meanwhile build their validators at their first use."""
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]

"""Children that need the settings: the settings are the parent's first message."""

from __future__ import annotations

from asyncio.subprocess import Process

from api.processes.children import Parent, start_child
from api.settings.model import Settings


async def start_with_settings(module: str, settings: Settings) -> Process:
    """Start a module, which calls ``begin``, as a process."""
    return await start_child(module, {name: getattr(settings, name) for name in type(settings).model_fields})


def begin() -> tuple[Settings, Parent] | None:
    """In the child: the settings and the way to the parent; None if the parent is gone already."""
    parent = Parent()
    if parent.first is None:
        return None
    return Settings.model_construct(**parent.first), parent  # the parent has checked them

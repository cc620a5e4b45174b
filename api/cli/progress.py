"""Progress bars on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from api.cli.output import Output

Tell = Callable[[str, int, int], None]
"""Takes what is being done, how far it is and of how many; 0 is unknown."""


@contextmanager
def progress_bar(name: str) -> Iterator[Tell | None]:
    """A bar that is gone when its work is done; None where nobody looks at a screen."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Output(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)

        def tell(stage: str, done: int, whole: int) -> None:
            bar.update(task, description=f"{name}: {stage}", completed=done, total=whole or None)

        yield tell


def file_of(file: Path, number: int, total: int) -> str:
    """One file of several, as a bar names it."""
    from api.cli.render.text import middle

    place = f" ({number}/{total})" if total > 1 else ""
    return f"{middle(file.name, 40)}{place}"

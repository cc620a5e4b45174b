"""Progress bars on standard error, if it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from api.cli.output import Output

Tell = Callable[[str, int, int], None]
"""Takes the name of the work, the done amount and the whole amount (0: unknown)."""


@contextmanager
def progress_bar(name: str) -> Iterator[Tell | None]:
    """A progress bar that disappears after the work; None without a terminal."""
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
    """The name of a file in a progress bar, with its number if there are several."""
    from api.cli.render.text import middle

    place = f" ({number}/{total})" if total > 1 else ""
    return f"{middle(file.name, 40)}{place}"

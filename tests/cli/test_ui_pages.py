"""The page that `memtrace ui` opens for an id or a name."""

from __future__ import annotations

import asyncio

import pytest

from api.cli.context import Target
from api.cli.ui import _page
from schema.errors import NotFoundError
from tests.cli.conftest import Cli

TRACE = "53341c53789613ce09e0fb66c0fb40d2"
START = "/ui/projects/default"


def page(cli: Cli, reference: str) -> str:
    return asyncio.run(_page(Target(cli.store, None, "default"), reference))


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("overview", START),
        ("failures", f"{START}/failures"),
        ("answers", f"{START}/answers"),
        ("annotate", f"{START}/queues"),
        ("traces", f"{START}#traces"),
        ("assistant-sample", f"{START}/traces/{TRACE}"),
        (TRACE, f"{START}/traces/{TRACE}"),
    ],
)
def test_a_page_has_a_name_and_everything_else_an_id(sample: Cli, reference: str, path: str) -> None:
    assert page(sample, reference) == path


def test_what_nothing_is_called_is_refused(sample: Cli) -> None:
    with pytest.raises(NotFoundError, match="dashboard"):
        page(sample, "dashboard")

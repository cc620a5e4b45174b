"""Reports to look at, and a browser to look with."""

from __future__ import annotations

import pytest

from attribution.report.model import ReportData
from tests.attribution.report.browser import browser
from tests.attribution.report.memory import report, some

__all__ = ["browser"]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """The report on 12 failures of all kinds."""
    return report(some(), tmp_path_factory.mktemp("report"))

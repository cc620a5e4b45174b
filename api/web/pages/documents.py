"""The GraphQL documents of the pages, one file each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from attribution.verdicts.failure_columns import FAILURE_COLUMNS, LISTED

_FOLDER = Path(__file__).parents[1] / "documents"
_FRAGMENTS = {
    name: f"fragment {name} on Failure {{ {' '.join(column.key for column in columns)} }}"
    for name, columns in (("EveryColumn", FAILURE_COLUMNS), ("ListedColumns", LISTED))
}
"""Fragments that documents may use without defining them: the declared columns of a failure."""


@dataclass(frozen=True)
class PageDocuments:
    """All documents of a folder, read when the first one is needed."""

    folder: Path

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {file.stem: _complete(file.read_text("utf-8")) for file in sorted(self.folder.glob("*.graphql"))}

    def __getitem__(self, name: str) -> str:
        """The text of a document, by the name of its file."""
        return self._by_name[name]

    @property
    def names(self) -> frozenset[str]:
        """The names of all documents."""
        return frozenset(self._by_name)

    @property
    def texts(self) -> frozenset[str]:
        """The texts of all documents."""
        return frozenset(self._by_name.values())


def _complete(document: str) -> str:
    """The document, followed by the fragments that it uses."""
    return "\n".join((document, *(text for name, text in _FRAGMENTS.items() if f"...{name}" in document)))


DOCUMENTS = PageDocuments(_FOLDER)

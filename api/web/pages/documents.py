"""The GraphQL documents of the pages: a file for each, beside the templates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "documents"


@dataclass(frozen=True)
class PageDocuments:
    """All files of a folder, read when the first is asked for."""

    folder: Path

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {file.stem: file.read_text("utf-8") for file in sorted(self.folder.glob("*.graphql"))}

    def __getitem__(self, name: str) -> str:
        """The text of a document, by the name of its file."""
        return self._by_name[name]

    @property
    def names(self) -> frozenset[str]:
        """The names of all of them."""
        return frozenset(self._by_name)

    @property
    def texts(self) -> frozenset[str]:
        """All of them."""
        return frozenset(self._by_name.values())


DOCUMENTS = PageDocuments(_FOLDER)

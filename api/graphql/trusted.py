"""Trusted documents: documents that a team has approved, by the SHA-256 of the text."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from schema.errors import InputError


@dataclass(frozen=True, slots=True)
class TrustedDocuments:
    """Documents by their SHA-256 in hexadecimal.

    Attributes:
        only: whether all other documents are refused.
        own: documents of our own pages; clients can't name them.
    """

    documents: dict[str, str]
    only: bool = False
    own: frozenset[str] = frozenset()

    def allows(self, document: str) -> bool:
        """Whether a document may run."""
        return not self.only or document in self.own or hash_of(document) in self.documents

    def find(self, extensions: dict[str, Any] | None) -> str | None:
        """The document that a request names in ``extensions.persistedQuery.sha256Hash``.

        Raises:
            InputError: no document has this hash.
        """
        named = (extensions or {}).get("persistedQuery")
        if not isinstance(named, dict):
            return None
        key = str(named.get("sha256Hash"))
        if key not in self.documents:
            raise InputError("request", "extensions.persistedQuery", "this server knows no document with this hash")
        return self.documents[key]


def hash_of(document: str) -> str:
    """The hash of a document, in hexadecimal."""
    return sha256(document.encode("utf-8", "surrogatepass")).hexdigest()


def load_trusted(path: str | None, only: bool, own: frozenset[str] = frozenset()) -> TrustedDocuments:
    """Read a file of trusted documents: a JSON object, from hash to text.

    Raises:
        InputError: the file can't be read, or a hash does not fit its text.
    """
    if path is None:
        if only:
            raise InputError("settings", "trusted_documents_only", "needs trusted_documents")
        return TrustedDocuments({}, own=own)
    try:
        documents = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(path, "", f"trusted documents can't be read: {error}") from error
    for key, document in documents.items():
        if hash_of(document) != key:
            raise InputError(path, key, "is not the SHA-256 of its document")
    return TrustedDocuments(documents, only, own)

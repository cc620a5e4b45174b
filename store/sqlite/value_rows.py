"""Writes the values of a batch's variables into the table ``value``, one row for equal values of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schema.errors import InputError
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES, Variable
from store.sqlite.queries import sql
from store.sqlite.row_keys import Keys
from store.sqlite.tables import Table
from store.values.packs import Pack


class ValueRows:
    """Writes values, and the packs with the long values."""

    def __init__(self, keys: Keys, values_in_file: bool) -> None:
        """Remember where to write.

        Args:
            keys: the keys of the trace.
            values_in_file: whether long values are stored in packs of the file.
        """
        self._keys = keys
        self._values_in_file = values_in_file
        self._places: dict[str, tuple[int, int]] = {}

    def write(self, variables: Sequence[Variable], packs: Iterable[Pack]) -> dict[tuple[str, str], int]:
        """Write the new values, and return the keys of all values, by hash and media type."""
        keys: dict[tuple[str, str], int] = {}
        new: dict[tuple[str, str], Variable] = {}
        for v in variables:
            address = (v.value_hash, v.media_type)
            if address in keys or address in new:
                continue
            stored = None
            if not self._keys.is_new_trace:
                bindings = (self._keys.trace_k, _digest(v.value_hash), v.media_type)
                stored = self._keys.connection.execute(sql("values.find"), bindings).get
            if stored is None:
                new[address] = v
            else:
                keys[address] = stored
        if self._values_in_file:
            large = {v.value_hash for v in new.values() if v.size > WHOLE_VALUE_BYTES}
            self._write_packs(packs, large - self._find_places(large))
        rows = []
        for address, v in new.items():
            k = keys[address] = self._keys.take(Table.VALUE, 1)
            place: tuple[int, int] | tuple[None, None] = (None, None)
            if self._values_in_file and v.size > WHOLE_VALUE_BYTES:
                place = self._place(v)
            text = v.value if v.value is not None else v.preview[:PREVIEW_CHARACTERS]
            rows.append((k, self._keys.trace_k, _digest(v.value_hash), v.size, v.media_type, text, *place))
        self._keys.insert(Table.VALUE, rows)
        return keys

    def _find_places(self, hashes: set[str]) -> set[str]:
        """The hashes of values that are stored under another media type; their places are remembered."""
        for value_hash in [] if self._keys.is_new_trace else hashes:
            place = self._keys.connection.execute(
                sql("values.find_place"), (self._keys.trace_k, _digest(value_hash))
            ).get
            if place is not None:
                self._places[value_hash] = place
        return hashes & self._places.keys()

    def _place(self, variable: Variable) -> tuple[int, int]:
        place = self._places.get(variable.value_hash)
        if place is None:
            problem = f"value {variable.value_hash} of {variable.external_id!r} is neither with the batch nor stored"
            raise InputError("batch", "variables", problem)
        return place

    def _write_packs(self, packs: Iterable[Pack], needed: set[str]) -> None:
        """Write the packs that contain a needed value."""
        for pack in packs:
            if needed.isdisjoint(entry.value_hash for entry in pack.entries):
                continue
            k = self._keys.take(Table.PACK, 1)
            self._keys.insert(Table.PACK, [(k, bytes.fromhex(pack.id), self._keys.trace_k, pack.raw_size, pack.data)])
            for entry in pack.entries:
                self._places[entry.value_hash] = (k, entry.offset)


def _digest(value_hash: str) -> bytes:
    return bytes.fromhex(value_hash.partition(":")[2])

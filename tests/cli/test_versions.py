"""The command `versions`: what changed from version to version, word by word."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.cli.render import changes
from schema.kinds import VariableKind
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder


def test_a_unit_shows_the_words_that_are_gone_and_new(sample: Cli) -> None:
    shown = sample("versions", "memory-unit-12").out
    assert "version 1 of 2" in shown
    assert "Mara: I joined a pottery class on Thursday evenings at the Kiln House." in shown
    assert "[- on Thursday evenings-]" in shown
    assert "timestamp" not in shown


def test_different_answers_are_no_versions_of_one_thing(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder("default")
    operation = trace.operation("answer")
    for version, text in enumerate(("Bo", "no idea", "No"), 1):
        trace.variable(
            f"{version:032x}", text, operation, name="answer output", kind=VariableKind.ANSWER, version=version
        )
    cli = stored(trace)
    shown = cli("versions", "answer output@2").out
    assert "version 1 of 1" in shown
    assert "no idea" in shown
    assert "Bo" not in shown
    assert "2 other variables are also called answer output" in shown
    table = cli("answers").out
    assert "answer output" not in table
    assert all(text in table for text in ("Bo", "no idea", "No"))


def test_two_variables_are_compared(sample: Cli) -> None:
    found = sample("diff", "memory-unit-12@1", "memory-unit-12@2", "--json").json
    assert found["isEqual"] is False
    assert {"text": "joined", "state": "gone"} in found["parts"]
    assert "[-joined-]" in sample("diff", "memory-unit-12@1", "memory-unit-12@2").out
    assert "Two runs compared" in sample("diff", "assistant-sample", "assistant-sample").out


@pytest.mark.parametrize("in_colour", [True, False])
def test_a_long_unchanged_part_is_shortened(in_colour: bool) -> None:
    old = f"one {'same ' * 200}end"
    shown = changes.changed(old, old.replace("one", "two"), in_colour).plain
    assert "one" in shown
    assert "two" in shown
    assert " … " in shown
    assert len(shown) < 200


LONG = "x" * 59 + " "


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a b", "a c", "a [-b-]{+c+}"),
        ("a", "a b", "a{+ b+}"),
        (f"a {LONG}{LONG[:-1]}", f"b {LONG}{LONG[:-1]}", f"[-a-]{{+b+}} {LONG}{LONG[:-1]}"),
        (f"a {LONG * 3}", f"b {LONG * 3}", f"[-a-]{{+b+}} {LONG[:59]} … "),
        (f"{LONG * 3}a", f"{LONG * 3}b", f" … {LONG}[-a-]{{+b+}}"),
        (f"a {LONG * 3}a", f"b {LONG * 3}b", None),
        ("a\nb", "a\nc", "a\n  [-b-]{+c+}"),
        ('{"text": "a b", "time": 1}', '{"text": "a c", "time": 2}', "a [-b-]{+c+}"),
        ('{"text": "a b", "time": 1}', '{"text": "a b", "time": 2}', None),
    ],
)
def test_changes_between_two_values(old: str, new: str, shown: str | None) -> None:
    found = changes.between(old, new, in_colour=False).plain
    if shown is None:
        assert found.count("[-") == found.count("{+") == 2 - ("time" in old)
        assert len(found) < len(new) + 20
        return
    assert found == shown


@pytest.mark.parametrize("is_equal", [True, False])
def test_changes_for_programs(is_equal: bool) -> None:
    new = "a b" if is_equal else "a c"
    rest = [{"text": "b", "state": "gone"}, {"text": "c", "state": "new"}]
    parts = [{"text": "a b", "state": "same"}] if is_equal else [{"text": "a ", "state": "same"}, *rest]
    assert changes.document("a b", new) == {"isEqual": is_equal, "parts": parts}

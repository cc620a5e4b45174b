"""Replaced functions come back; calls wait for imports; a model call is covered while another instrument records it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import memtrace
import pytest
from memtrace.instruments import imports
from memtrace.instruments.covering import covered, covering, is_covered
from memtrace.instruments.imports import forget, when_imported
from memtrace.instruments.patches import Patches, wrap_all


@pytest.fixture
def faults() -> Iterator[Callable[[], dict[str, int]]]:
    """Gives the faults of the recorder since the test began; at the end they are forgotten, because they are wanted."""
    before = memtrace.fault_counts()
    yield lambda: {
        name: n - before.get(name, 0) for name, n in memtrace.fault_counts().items() if n != before.get(name)
    }
    memtrace.faults._counts.clear()
    memtrace.faults._counts.update(before)


def _double(original: Callable[..., Any]) -> Callable[..., Any]:
    def doubled(*given: Any, **named: Any) -> Any:
        return 2 * original(*given, **named)

    return doubled


def _classes() -> tuple[type, type]:
    class Base:
        def one(self) -> int:
            """Gives 1."""
            return 1

        @staticmethod
        def two() -> int:
            return 2

        @classmethod
        def three(cls) -> int:
            return len(cls.__name__) - 1

    class Other(Base):
        def one(self) -> int:
            return 10

    return Base, Other


@pytest.mark.parametrize(("name", "before", "after"), [("one", 1, 2), ("two", 2, 4), ("three", 3, 6)])
def test_each_sort_of_method_is_replaced_once_and_comes_back(name: str, before: int, after: int) -> None:
    base, _ = _classes()
    original = vars(base)[name]
    patches = Patches("some")
    assert patches.wrap(base, name, _double) is True
    assert patches.wrap(base, name, _double) is True
    assert getattr(base(), name)() == after
    assert type(vars(base)[name]) is type(original)
    if name == "one":
        assert (base.one.__doc__, base.one.__name__) == ("Gives 1.", "one")  # type: ignore[attr-defined]
    patches.restore()
    assert vars(base)[name] is original
    assert getattr(base(), name)() == before


def test_an_inherited_method_is_left_to_its_class_and_a_missing_one_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    base, other = _classes()
    patches = Patches("some")
    assert patches.wrap(other, "two", _double) is False
    assert "two" not in vars(other)
    assert caplog.messages == []
    for _ in range(2):
        assert patches.wrap(base, "none", _double) is False
    assert caplog.messages == [
        f"this version of some has no {base.__module__}.{base.__qualname__}.none: what goes through it is not recorded"
    ]


def test_what_somebody_else_has_replaced_since_stays() -> None:
    base, other = _classes()
    patches = Patches("some")
    patches.wrap(base, "one", _double)
    patches.put(other, "new", 5)
    patches.put(other, "later", 5)
    base.one = lambda self: 99  # type: ignore[attr-defined]
    other.later = 6  # type: ignore[attr-defined]
    patches.restore()
    assert (base().one(), other.later) == (99, 6)  # type: ignore[attr-defined]
    assert "new" not in vars(other)
    patches.restore()  # nothing is left to restore
    assert base().one() == 99


@pytest.mark.parametrize(("with_base", "own"), [(True, 2), (False, 1)])
def test_all_classes_of_a_family_are_wrapped_where_they_define_a_method(with_base: bool, own: int) -> None:
    base, other = _classes()
    patches = Patches("some")
    wrap_all(patches, base, {"one": _double, "absent": _double}, with_base=with_base)

    class Later(base):  # type: ignore[misc, valid-type]
        def one(self) -> int:
            return 100

    class Inherits(other):  # type: ignore[misc, valid-type]
        pass

    assert [kind().one() for kind in (base, other, Later, Inherits)] == [own, 20, 200, 20]
    patches.restore()
    assert [kind().one() for kind in (base, other, Later, Inherits)] == [1, 10, 100, 10]
    assert "__init_subclass__" not in vars(base)


def test_what_a_class_does_with_its_subclasses_is_still_done(faults: Callable[[], dict[str, int]]) -> None:
    told: list[tuple[str, Any]] = []

    class Base:
        def __init_subclass__(cls, /, **said: Any) -> None:
            told.append((cls.__name__, said))

    class Middle(Base):
        pass

    def fail(_: Callable[..., Any]) -> Callable[..., Any]:
        raise ValueError("no")

    for base, name in [(Base, "Own"), (Middle, "Inherited")]:
        patches = Patches("some")
        wrap_all(patches, base, {"run": fail})
        type(name, (base,), {"run": lambda self: 1}, size=3)
        patches.restore()
    assert told == [("Middle", {}), ("Own", {"size": 3}), ("Inherited", {"size": 3})]
    assert sorted(faults().items()) == [("instrument of Inherited", 1), ("instrument of Own", 1)]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module that is not imported yet."""
    name = f"memtrace_test_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text("VALUE = 1\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_calls_wait_for_an_import_and_come_after_it_in_order(module: str, faults: Callable[[], dict[str, int]]) -> None:
    told: list[Any] = []

    def fail() -> None:
        raise ValueError("no")

    calls: list[Callable[[], None]] = [
        lambda: told.append(sys.modules[module].VALUE),
        fail,
        lambda: told.append("second"),
        lambda: told.append("forgotten"),
    ]
    for call in calls:
        when_imported(module, call)
    forget(calls[-1])
    assert imports._finder in sys.meta_path
    assert told == []
    found = import_module(module)
    assert told == [1, "second"]
    assert faults() == {"instrument": 1}
    assert found.__spec__ is not None
    assert type(found.__spec__.loader).__name__ == type(found.__loader__).__name__ == "SourceFileLoader"
    when_imported(module, calls[2])  # already imported
    assert told == [1, "second", "second"]


def test_nothing_is_watched_when_nothing_waits(module: str) -> None:
    before = list(sys.meta_path)
    had = imports._finder in before
    call: Callable[[], None] = lambda: None  # noqa: E731
    when_imported(module, call)
    assert sys.meta_path[0] is imports._finder or had
    forget(call)
    forget(call)
    assert (imports._finder in sys.meta_path) is had
    assert module not in imports._waiting
    with pytest.raises(ModuleNotFoundError):
        import_module(f"{module}_absent")


def _stream(count: int, closed: list[str]) -> Generator[bool, None, None]:
    try:
        for _ in range(count):
            yield is_covered()
    finally:
        closed.append("closed")


async def _stream_later(count: int, closed: list[str]) -> AsyncGenerator[bool, None]:
    try:
        for _ in range(count):
            yield is_covered()
    finally:
        closed.append("closed")


async def _later() -> bool:
    await asyncio.sleep(0)
    return is_covered()


async def _gives_stream_later(count: int, closed: list[str]) -> AsyncGenerator[bool, None]:
    return _stream_later(count, closed)


def _gives_stream(count: int, closed: list[str]) -> Generator[bool, None, None]:
    return _stream(count, closed)


def test_a_block_is_covered_and_its_neighbours_are_not() -> None:
    assert not is_covered()
    with covering():
        with covering():
            assert is_covered()
        assert is_covered()
    assert not is_covered()
    with pytest.raises(ValueError, match="no"), covering():
        raise ValueError("no")
    assert not is_covered()


async def test_calls_are_covered_and_streams_while_they_make_a_chunk() -> None:
    assert covered(is_covered)() is True
    assert await covered(_later)() is True
    assert covered(is_covered).__name__ == "is_covered"
    for make in (_stream, _gives_stream):
        closed: list[str] = []
        found = []
        for chunk in covered(make)(3, closed):
            assert not is_covered()
            found.append(chunk)
        assert (found, closed) == ([True] * 3, ["closed"])
        left = covered(make)(3, closed)
        assert next(left) is True
        left.close()
        assert closed == ["closed"] * 2
    for make_later in (_stream_later, _gives_stream_later):
        closed = []
        found = []
        made = covered(make_later)(3, closed)
        chunks: Any = await made if asyncio.iscoroutine(made) else made
        async for chunk in chunks:
            assert not is_covered()
            found.append(chunk)
        assert (found, closed) == ([True] * 3, ["closed"])
    assert not is_covered()


def test_a_module_is_an_owner_too() -> None:
    owner = SimpleNamespace(run=lambda: 4)
    patches = Patches("some")
    assert patches.wrap(owner, "run", _double)
    assert owner.run() == 8
    patches.restore()
    assert owner.run() == 4

"""Prompts that an optimization found are taken over, and taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimization.loop import folder as folders
from schema.errors import InputError

BEFORE = {"answer": "old answer ä", "extraction": "old extraction", "same": "same"}
AFTER = BEFORE | {"answer": "new answer ö", "extraction": "new extraction"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    said(folder)
    return folder


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name, text in BEFORE.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    return folder


def said(folder: Path, *reasons: str, **more: Any) -> None:
    gate = {"accepted": not reasons, "reasons": list(reasons)}
    (folder / "found.json").write_text(json.dumps({"gate": gate, "before": BEFORE, "after": AFTER} | more))


def texts(prompts: Path) -> dict[str, str]:
    return {file.stem: file.read_text("utf-8") for file in sorted(prompts.iterdir())}


def test_changed_prompts_are_written_and_restored(run: Path, prompts: Path) -> None:
    for _ in range(2):
        assert folders.accept(run, prompts) == ["answer", "extraction"]
        assert texts(prompts) == AFTER
        assert folders.accept(run, prompts) == ["answer", "extraction"]
        assert folders.rollback(run, prompts) == ["answer", "extraction"]
        assert texts(prompts) == BEFORE
        with pytest.raises(InputError, match="nothing was accepted"):
            folders.rollback(run, prompts)


def test_a_prompt_without_a_file_gets_one_and_loses_it(run: Path, prompts: Path) -> None:
    (prompts / "answer.txt").unlink()
    folders.accept(run, prompts)
    assert texts(prompts) == AFTER
    folders.rollback(run, prompts)
    assert texts(prompts) == {name: text for name, text in BEFORE.items() if name != "answer"}


def test_a_folder_without_a_result(tmp_path: Path, prompts: Path) -> None:
    for act in (folders.found, lambda folder: folders.accept(folder, prompts)):
        with pytest.raises(InputError, match="holds no finished optimization"):
            act(tmp_path)
    with pytest.raises(InputError, match="nothing was accepted"):
        folders.rollback(tmp_path, prompts)


def test_what_the_gate_did_not_accept_is_not_taken_over(run: Path, prompts: Path) -> None:
    said(run, "too dear", "too few")
    with pytest.raises(InputError, match="the gate did not accept: too dear; too few"):
        folders.accept(run, prompts)
    assert texts(prompts) == BEFORE
    assert not (run / "originals").exists()


def test_a_prompt_that_was_changed_before_is_left(run: Path, prompts: Path) -> None:
    (prompts / "extraction.txt").write_text("by hand")
    with pytest.raises(InputError, match=r"extraction\.txt: is not the prompt with which the optimization began"):
        folders.accept(run, prompts)
    assert texts(prompts) == BEFORE | {"extraction": "by hand"}
    assert not (run / "originals").exists()


def test_an_interrupted_acceptance_goes_on(run: Path, prompts: Path) -> None:
    folders.accept(run, prompts)
    (prompts / "extraction.txt").write_text(BEFORE["extraction"])
    assert folders.accept(run, prompts) == ["answer", "extraction"]
    assert texts(prompts) == AFTER
    (prompts / "answer.txt").write_text(BEFORE["answer"])
    folders.rollback(run, prompts)
    assert texts(prompts) == BEFORE


@pytest.mark.parametrize("change", ["by hand", None])
def test_a_prompt_that_was_changed_since_is_left(run: Path, prompts: Path, change: str | None) -> None:
    folders.accept(run, prompts)
    file = prompts / "extraction.txt"
    file.unlink() if change is None else file.write_text(change)
    with pytest.raises(InputError, match=r"extraction\.txt: was changed since it was accepted"):
        folders.rollback(run, prompts)
    assert texts(prompts)["answer"] == AFTER["answer"]


def test_a_prompt_that_is_the_same_may_have_any_file(run: Path, prompts: Path) -> None:
    (prompts / "same.txt").write_text("by hand")
    folders.accept(run, prompts)
    folders.rollback(run, prompts)
    assert texts(prompts) == BEFORE | {"same": "by hand"}

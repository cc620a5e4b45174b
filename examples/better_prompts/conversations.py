"""Conversations, in the plain form of data sets: each person says two things, and is asked for both."""

import json
from pathlib import Path
from typing import Any

_DOGS = ["Bo", "Mia", "Rio", "Rex", "Tom", "Kiwi", "Odo", "Zoe", "Ada", "Bix", "Cas", "Dax", "Eli", "Fay", "Gus", "Hal"]
_TOWNS = [
    "Ghent",
    "Lyon",
    "Porto",
    "Graz",
    "Turku",
    "Delft",
    "Bergen",
    "Cork",
    "Basel",
    "Pisa",
    "Riga",
    "Brno",
    "Leeds",
    "Nancy",
    "Siena",
    "Trier",
]


def lines() -> list[dict[str, Any]]:
    """A conversation for each person."""
    found: list[dict[str, Any]] = []
    for number, (dog, town) in enumerate(zip(_DOGS, _TOWNS, strict=True), 1):
        said = [f"My dog is called {dog}.", f"In spring I moved to {town}."]
        asked = [("What is the dog called?", dog), ("Where did she move to?", town)]
        found.append(
            {
                "user": f"person {number}",
                "sessions": [
                    {"id": f"day {at}", "messages": [{"id": f"m{at}", "speaker": "Mara", "text": text}]}
                    for at, text in enumerate(said, 1)
                ],
                "questions": [
                    {"id": f"q{at}", "question": question, "gold": gold, "evidence": [f"m{at}"]}
                    for at, (question, gold) in enumerate(asked, 1)
                ],
            }
        )
    return found


def write(path: Path) -> None:
    """Write a line for each conversation."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines()), "utf-8")

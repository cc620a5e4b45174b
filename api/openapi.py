"""The committed OpenAPI document: ``python -m api.openapi`` writes it."""

from __future__ import annotations

import json
from pathlib import Path

from api.server import create_app
from api.settings import Settings

FILE = Path(__file__).with_name("http") / "openapi.json"


def text() -> str:
    """The text of the file."""
    return json.dumps(create_app(Settings.model_construct()).openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")

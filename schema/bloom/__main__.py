"""``python -m schema.bloom`` writes the perspective anew."""

from __future__ import annotations

from schema.bloom.perspective import FILE, perspective
from schema.bloom.text import as_text

if __name__ == "__main__":
    FILE.write_text(as_text(perspective()), "utf-8")

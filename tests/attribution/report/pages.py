"""Reads pages and documents as a reader sees them: their tables, headings and elements."""

from __future__ import annotations

from html.parser import HTMLParser

from markdown_it import MarkdownIt

Table = list[list[str]]

VOID = frozenset({"meta", "link", "br", "img", "input", "hr", "rect", "path"})


class Page(HTMLParser):
    """A page, read.

    Attributes:
        tags: every element, in order, but for places where a line may break, and for what is inside a story.
        told: every element inside a story: how many there are depends on the words.
        tables: the cells of each table, row by row.
        headings: level and text.
        text: all that is shown.
        open: elements that were not closed.
    """

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.told: list[tuple[str, dict[str, str | None]]] = []
        self.story: int | None = None
        self.tables: list[Table] = []
        self.captions = 0
        self.headings: list[tuple[int, str]] = []
        self.parts: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":  # where a line may break: as many as the text has marks
            return
        (self.tags if self.story is None else self.told).append((tag, dict(attrs)))
        if self.story is None and dict(attrs).get("class") == "story":
            self.story = len(self.open)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
        elif tag == "caption":
            self.captions += 1
        elif tag in {"h1", "h2", "h3"}:
            self.headings.append((int(tag[1]), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag
        if self.story == len(self.open):
            self.story = None

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.parts.append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        if {"h1", "h2", "h3"} & set(self.open):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)


def rendered(markdown: str) -> Page:
    """A document as a program for Markdown shows it, HTML in it included."""
    return Page(MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").render(markdown))

"""The other names of options."""

from __future__ import annotations

from collections.abc import Mapping

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "--store": ("--db", "--database"),
    "--version": ("-v", "-V"),
    "--no-browser": ("--no-open", "--headless"),
    "--trace": (
        *("-t", "--run", "--user", "--person", "--thread", "--conversation", "--session", "--chat"),
        *("--in-trace", "--recording", "--user-id", "--trace-id"),
    ),
    "--limit": ("-n", "--max", "--head", "--top", "--first"),
    "--search": ("-s", "--text", "--question", "--contains", "--filter", "--grep", "--query", "--match", "--word"),
    "--kind": ("-k", "--type"),
    "--type": ("--error-type", "--error", "--kind", "--stage", "--cause", "--verdict", "--fault"),
    "--wrong": ("--failed", "--incorrect", "--bad", "--failures", "--errors", "--false"),
    "--right": ("--correct", "--ok", "--good", "--passed", "--true"),
    "--unjudged": ("--open", "--unmarked", "--pending", "--new"),
    "--undecided": ("--open", "--abstained", "--unsure", "--unexplained", "--pending"),
    "--decided": ("--explained", "--attributed"),
    "--gold": (
        *("--expected", "--right", "--right-answer", "--correct", "--answer", "--truth"),
        *("--should-be", "--should", "--gold-answer", "--correct-answer", "--expect", "--golden", "--wanted"),
    ),
    "--json": ("-j",),
    "--format": ("-f", "--as"),
    "--output": ("--out", "--file", "--save", "--save-as", "--outfile"),
    "--sort": ("--order", "--sort-by", "--order-by"),
    "--descending": ("--desc", "--reverse", "-r"),
    "--count": ("-c", "--total", "--how-many"),
    "--ids": ("--ids-only", "--only-ids", "--id-only", "--quiet"),
    "--by": ("--group-by", "--per"),
    "--ended": ("--deleted", "--gone", "--removed", "--forgotten"),
    "--port": ("-p",),
    "--project": ("-p", "-P", "--namespace", "--workspace", "--organization"),
    "--yes": ("-y", "--force"),
    "--reason": ("--because", "--note", "--comment", "-m", "--message", "--why"),
    "--comment": ("-m", "--note", "--because", "--reason"),
    "--author": ("--assignee", "--reviewer", "--judge", "--annotator", "--who", "--judged-by"),
    "--since": ("--after", "--newer-than", "--from", "--start"),
    "--until": ("--before", "--older-than", "--to", "--end"),
    "--file": ("--from", "--gold-file", "--input"),
    "--operation": ("--op", "--step", "--at-fault", "--blamed", "--culprit"),
    "--max-hops": ("--depth", "--hops", "--levels"),
    "--labelled": ("--labeled", "--verified", "--reviewed", "--judged", "--human", "--confirmed"),
    "--unlabelled": ("--unlabeled", "--unverified", "--unreviewed", "--unconfirmed"),
}
"""The other names of each option. A command's own option comes first, such as -p of `memtrace sql`."""

"""The addresses of pages in a project with the sample, for tests and pictures of all pages."""

from __future__ import annotations

from tests.graphql.world import World


def addresses(world: World, project: str | None = None) -> dict[str, str]:
    """The addresses of the pages that need a key, by name.

    Args:
        world: the project whose ids the addresses contain.
        project: the project in the addresses; None is the world's own.
    """
    base = f"/ui/projects/{project or world.project}"
    ids = world.ids
    return {
        "overview": base,
        "overview-of-flow": f"{base}?method=flow",
        "answers": f"{base}/answers",
        "answers-wrong": f"{base}/answers?trace={ids['trace']}&state=wrong&text=a",
        "blame": f"{base}/blame",
        "blame-units": f"{base}/blame?by=unit",
        "compare": f"{base}/compare",
        "compare-traces": f"{base}/compare?before={ids['trace']}&after={ids['trace']}&show=stillWrong",
        "compare-methods": f"{base}/compare?by=methods&before=flow&after=human",
        "failures": f"{base}/failures",
        "failures-filtered": f"{base}/failures?text=Mara&labelled=no",
        "failures-sorted": f"{base}/failures?sort=-confidence",
        "failures-none": f"{base}/failures?text=nowhere-at-all",
        "failures-of-trace": f"{base}/failures?trace={ids['trace']}",
        "failure": f"{base}/failures/{ids['failure']}",
        "queues": f"{base}/queues",
        "queue": f"{base}/queues/{ids['queue']}",
        "case-of-others": f"{base}/queues/{ids['queue']}/cases/{ids['failure']}",
        "trace": f"{base}/traces/{ids['trace']}",
        "trace-units": f"{base}/traces/{ids['trace']}?show=units",
        "trace-followed": f"{base}/traces/{ids['trace']}?live=1",
        "memory": f"{base}/traces/{ids['trace']}/memory?asOf=40",
        "memory-unit": f"{base}/traces/{ids['trace']}/memory?unit={ids['unit']}",
        "operation": f"{base}/operations/{ids['operation']}",
        "message": f"{base}/variables/{ids['message']}",
        "unit-compared": f"{base}/variables/{ids['unit']}?compare={ids['before']}",
        "graph": f"{base}/variables/{ids['answer']}/graph",
        "impact": f"{base}/variables/{ids['message']}/impact",
        "settings": f"{base}/settings",
        "jobs": f"{base}/jobs",
        "job": f"{base}/jobs/{ids['job']}",
        "search": f"{base}/search?text=Mara",
        "search-empty": f"{base}/search",
    }


OWN = {"help": "/ui/help", "me": "/ui/me"}
"""Pages outside of projects."""

OPEN = {"sign-in": "/ui/sign-in?next=/ui/help", "opening": "/ui/open", "invitation": "/ui/invitation?next=/ui/help"}
"""Pages that need no key."""

"""The comment of whoever reported a failure, on the page of the failure."""

from __future__ import annotations

from tests.graphql.world import World
from tests.web.test_doors import visitor

_REPORT = """mutation($project: String!, $input: FailureInput!) {
    recordFailure(project: $project, input: $input) { ... on FailureRecorded { failure { id } } }
}"""


def test_the_comment_stands_below_the_answers(lone: World) -> None:
    given = {"answer": lone.ids["answer"], "goldAnswers": ["Nowhere"], "comment": "See <b>ticket 4711</b>\nof Ann."}
    found = lone.ask(_REPORT, {"project": lone.project, "input": given}, "writer")
    base = f"/ui/projects/{lone.project}/failures"
    with visitor(lone.server, lone.server.key("reader", lone.project)) as reader:
        shown = reader.get(f"{base}/{found['recordFailure']['failure']['id']}").text
        others = [reader.get(f"{base}/{id_}").text for id_ in [lone.ids["failure"]]]
    assert "Comment:</span> <bdi>See &lt;b&gt;ticket 4711&lt;/b&gt;" in shown
    assert all(("Comment:" in other) is (other == shown) for other in others)

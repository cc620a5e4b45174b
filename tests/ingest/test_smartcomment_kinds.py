"""The kinds of variables and operations of a smartcomment file."""

from __future__ import annotations

import pytest

from ingest.files.smartcomment.kinds import operation_kinds, refine_variables, variable_kind
from ingest.files.smartcomment.repair import NO_MAKER, renumbered
from schema.kinds import OperationKind as Op
from schema.kinds import VariableKind as V


@pytest.mark.parametrize(
    ("class_name", "category", "kind"),
    [
        (None, None, V.OTHER),
        ("", "", V.OTHER),
        (None, "message", V.MESSAGE),
        (None, "Message & Query", V.QUERY),
        ("QUERY", "message", V.QUERY),
        ("prediction", "llm_response", V.ANSWER),
        ("golden_answers", None, V.GOLD_ANSWER),
        ("judge_response", "llm_response", V.JUDGEMENT),
        ("judge_score", "variable", V.SCORE),
        ("context", "memory_context", V.CONTEXT),
        (None, "memory_entry", V.MEMORY_UNIT),
        (None, "message_buffer", V.BUFFER),
        (None, "similar_memories", V.RETRIEVAL_RESULT),
        (None, "vector_results", V.RETRIEVAL_RESULT),
        (None, "results", V.OTHER),
        (None, "results_of", V.OTHER),
        (None, "embedding", V.EMBEDDING),
    ],
)
def test_a_variable_is_known_by_class_and_category(class_name: str | None, category: str | None, kind: V) -> None:
    assert variable_kind(class_name, category) is kind


@pytest.mark.parametrize(
    ("name", "category", "used", "made", "kind"),
    [
        (None, None, [], [], Op.OTHER),
        ("f", "Retrieval", [], [], Op.RETRIEVAL),
        ("f", "mutation", [], [], Op.UPDATE),
        ("f", "delete", [], [], Op.DELETION),
        ("f", "boundary_detection", [], [], Op.SEGMENTATION),
        ("f", "evaluation", [], [], Op.EVALUATION),
        ("f", "evaluation", [V.GOLD_ANSWER], [], Op.JUDGE),
        ("f", "evaluation", [V.GOLD_ANSWER], [V.ANSWER], Op.JUDGE),
        ("LLM-Judge", "evaluation", [], [], Op.JUDGE),
        ("LLM-Judge", None, [], [], Op.JUDGE),
        ("f", None, [V.GOLD_ANSWER], [], Op.JUDGE),
        ("f", "evaluation", [], [V.ANSWER], Op.GENERATION),
        ("f", "unknown", [], [V.ANSWER], Op.GENERATION),
        ("f", "evaluation", [V.QUERY], [V.RESPONSE], Op.GENERATION),
        ("f", "unknown", [V.QUERY], [V.RESPONSE], Op.OTHER),
        ("f", "evaluation", [V.QUERY], [V.CONTEXT], Op.EVALUATION),
        ("f", "evaluation", [V.CONTEXT], [V.RESPONSE], Op.EVALUATION),
        ("judge", "update", [V.GOLD_ANSWER], [V.ANSWER], Op.UPDATE),
    ],
)
def test_an_operation_is_known_by_category_and_by_what_it_uses_and_makes(
    name: str | None, category: str | None, used: list[V], made: list[V], kind: Op
) -> None:
    variables = [*used, *made]
    inputs, outputs = range(len(used)), range(len(used), len(variables))
    assert operation_kinds([(name, category)], [inputs], [outputs], variables) == [kind]


@pytest.mark.parametrize(
    ("kind", "maker", "is_final", "refined"),
    [
        (V.RESPONSE, Op.GENERATION, True, V.ANSWER),
        (V.RESPONSE, Op.GENERATION, False, V.RESPONSE),
        (V.OTHER, Op.GENERATION, True, V.OTHER),
        (V.RESPONSE, Op.JUDGE, True, V.SCORE),
        (V.RESPONSE, Op.JUDGE, False, V.JUDGEMENT),
        (V.OTHER, Op.JUDGE, True, V.SCORE),
        (V.OTHER, Op.JUDGE, False, V.JUDGEMENT),
        (V.PROMPT, Op.JUDGE, True, V.PROMPT),
        (V.PROMPT, Op.GENERATION, True, V.PROMPT),
        (V.RESPONSE, Op.UPDATE, True, V.RESPONSE),
        (V.RESPONSE, None, True, V.RESPONSE),
    ],
)
def test_answers_and_scores_are_known_by_their_makers(kind: V, maker: Op | None, is_final: bool, refined: V) -> None:
    kinds = [V.MESSAGE, kind]
    operations = [Op.GENERATION, Op.GENERATION if maker is None else maker]
    refine_variables(kinds, [NO_MAKER, NO_MAKER if maker is None else 1], operations, [True, is_final])
    assert kinds == [V.MESSAGE, refined]


@pytest.mark.parametrize(
    ("places", "stored", "numbers"),
    [
        ([2, 0, 1], {}, [2, 0, 1]),
        ([2, 0, 1], {"a": 2, "b": 0}, [2, 0, 1]),
        ([0, 1, 2], {"a": 4, "b": 1}, [4, 1, 5]),
        ([2, 1, 0], {"b": 7}, [9, 7, 8]),
        ([0, 1, 2], {"gone": 9, "a": 3}, [3, 10, 11]),
    ],
)
def test_stored_numbers_stay(places: list[int], stored: dict[str, int], numbers: list[int]) -> None:
    assert renumbered(places, ["a", "b", "c"], stored) == numbers

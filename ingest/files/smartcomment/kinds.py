"""Decides the kinds of variables and operations by the words in their categories and classes, and by the flow of data.

A kind depends only on the record itself and on the edges of the operation that made the variable, so a longer stage of
the same graph does not change a kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingest.files.smartcomment.repair import NO_MAKER
from schema.kinds import OperationKind, VariableKind

_VARIABLE_CATEGORIES = {
    "message": VariableKind.MESSAGE,
    "query": VariableKind.QUERY,
    "message & query": VariableKind.QUERY,
    "question": VariableKind.QUERY,
    "refined_query": VariableKind.REFINED_QUERY,
    "refined_queries": VariableKind.REFINED_QUERY,
    "prompt": VariableKind.PROMPT,
    "memory_entry": VariableKind.MEMORY_UNIT,
    "memory_unit": VariableKind.MEMORY_UNIT,
    "memory": VariableKind.MEMORY_UNIT,
    "message_buffer": VariableKind.BUFFER,
    "new_messages": VariableKind.BUFFER,
    "history_messages": VariableKind.BUFFER,
    "buffer": VariableKind.BUFFER,
    "memory_context": VariableKind.CONTEXT,
    "context": VariableKind.CONTEXT,
    "formatted_documents": VariableKind.CONTEXT,
    "similar_memories": VariableKind.RETRIEVAL_RESULT,
    "reranked_for_check": VariableKind.RETRIEVAL_RESULT,
    "llm_response": VariableKind.RESPONSE,
    "sufficiency_check_result": VariableKind.RESPONSE,
    "prediction": VariableKind.ANSWER,
    "answer": VariableKind.ANSWER,
    "golden_answers": VariableKind.GOLD_ANSWER,
    "golden_answer": VariableKind.GOLD_ANSWER,
    "judge_response": VariableKind.JUDGEMENT,
    "judge_score": VariableKind.SCORE,
    "score": VariableKind.SCORE,
    "embedding": VariableKind.EMBEDDING,
    "marker": VariableKind.MARKER,
}
_VARIABLE_CLASSES = {
    "query": VariableKind.QUERY,
    "prediction": VariableKind.ANSWER,
    "golden_answers": VariableKind.GOLD_ANSWER,
    "judge_response": VariableKind.JUDGEMENT,
    "judge_score": VariableKind.SCORE,
}
_OPERATION_CATEGORIES = {
    "extraction": OperationKind.EXTRACTION,
    "update": OperationKind.UPDATE,
    "mutation": OperationKind.UPDATE,
    "deletion": OperationKind.DELETION,
    "delete": OperationKind.DELETION,
    "retrieval": OperationKind.RETRIEVAL,
    "search": OperationKind.RETRIEVAL,
    "generation": OperationKind.GENERATION,
    "judge": OperationKind.JUDGE,
    "initialization": OperationKind.INITIALIZATION,
    "boundary_detection": OperationKind.SEGMENTATION,
    "segmentation": OperationKind.SEGMENTATION,
    "embedding": OperationKind.EMBEDDING,
    "evaluation": OperationKind.EVALUATION,
    "tool": OperationKind.TOOL,
}
_MODEL_OUTPUTS = frozenset({VariableKind.RESPONSE, VariableKind.OTHER})


def variable_kind(class_name: str | None, category: str | None) -> VariableKind:
    """The kind of a variable, by the words of its class and category."""
    by_class = _VARIABLE_CLASSES.get((class_name or "").lower())
    if by_class:
        return by_class
    word = (category or "").lower()
    if word in _VARIABLE_CATEGORIES:
        return _VARIABLE_CATEGORIES[word]
    return VariableKind.RETRIEVAL_RESULT if word.endswith("_results") else VariableKind.OTHER


def operation_kinds(
    names: Sequence[tuple[str | None, str | None]],
    inputs: Sequence[Iterable[int]],
    outputs: Sequence[Iterable[int]],
    variables: Sequence[VariableKind],
) -> list[OperationKind]:
    """The kinds of operations: by category; the kind of an evaluation depends on its inputs.

    An evaluation that uses gold answers is a judge. An evaluation that makes a text from a question is a generation.

    Args:
        names: name and category, per operation.
        inputs: variables used, except the operation's own outputs, per operation.
        outputs: variables made, per operation.
        variables: kind by words, per variable.
    """
    kinds = []
    for position, (name, category) in enumerate(names):
        kind = _OPERATION_CATEGORIES.get((category or "").lower(), OperationKind.OTHER)
        if kind in {OperationKind.EVALUATION, OperationKind.OTHER}:
            used = {variables[variable] for variable in inputs[position]}
            made = {variables[variable] for variable in outputs[position]}
            if VariableKind.GOLD_ANSWER in used or "judge" in (name or "").lower():
                kind = OperationKind.JUDGE
            elif VariableKind.ANSWER in made or (
                kind is OperationKind.EVALUATION and VariableKind.QUERY in used and VariableKind.RESPONSE in made
            ):
                kind = OperationKind.GENERATION
        kinds.append(kind)
    return kinds


def refine_variables(
    kinds: list[VariableKind],
    makers: Sequence[int],
    operations: Sequence[OperationKind],
    is_final: Sequence[bool],
) -> None:
    """Recognise answers, judgements and scores by the operation that first made them; changes ``kinds``.

    Args:
        kinds: kind by words, per variable.
        makers: the operation that first made the variable, per variable.
        operations: kind, per operation.
        is_final: whether the maker did not itself use the variable, per variable.
    """
    for position, maker in enumerate(makers):
        if maker == NO_MAKER or kinds[position] not in _MODEL_OUTPUTS:
            continue
        if operations[maker] is OperationKind.GENERATION and kinds[position] is VariableKind.RESPONSE:
            kinds[position] = VariableKind.ANSWER if is_final[position] else kinds[position]
        elif operations[maker] is OperationKind.JUDGE:
            kinds[position] = VariableKind.SCORE if is_final[position] else VariableKind.JUDGEMENT

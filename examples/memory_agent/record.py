"""Runs the agent and writes its execution graph with smartcomment.

Usage, from the project's root, in an environment of its own (Python 3.12 or later, ``smartcomment``)::

    python -m examples.memory_agent.record [FOLDER]

Writes ``sample/assistant.json`` (the graph) and ``truth.json`` (why answers are wrong) to FOLDER, by default
``examples``. This is the only module that imports smartcomment; the platform never does.
"""

import inspect
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from smartcomment import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    comment_graph,
    comment_link,
    comment_mutation,
    comment_op,
    comment_op_scope,
    comment_session,
    comment_variable,
)
from smartcomment.runtime.variable import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    RuntimeVariable,
)

from . import models
from .agent import TOP_K, Change, MemoryAgent, Remembered, Unit
from .conversation import ASSISTANT, PERSON, Message, sessions
from .questions import QUESTIONS, Question
from .truth import Verdict, truth

ROOT = Path(__file__).resolve().parents[2]
GRAPH_ID = "assistant-sample"
EXTRACT = "memory_system.extract_facts"
UPDATE = "memory_system.update_memory_decision"
SEARCH = "memory_system.search_memory"

Json = dict[str, Any]


class Recorder:
    """Writes each step of the agent into the current graph; needs an active graph and session."""

    def __init__(self) -> None:
        self.op_ids: dict[tuple[str, str], str] = {}
        self._entries: dict[str, Json] = {}

    def remembered(self, message: Message, step: Remembered) -> None:
        """Records the two operations that took in a message."""
        heard = _variable(
            message.payload(),
            "message",
            "A message of the conversation, with its speaker and time.",
            id_strategy=lambda _: message.name,
            encoding_fn=_indented,
            metadata={"dia_id": message.name.partition(":")[2], "timestamp": message.timestamp},
        )
        prompt = _prompt("fact-extraction-system-prompt", models.EXTRACTION_PROMPT, "extraction")
        reply = _reply("raw_fact_extraction_response", step.extraction_reply)
        bare = _reply("fact_extraction_response_with_code_block_removing", step.extraction)
        facts = _reply("extracted_facts", step.facts)
        with comment_op_scope(
            op_name=EXTRACT, comment="Extract the facts that a message states.", category="extraction"
        ) as op:
            comment_link(source=heard, target=reply, comment="The message is read.")
            comment_link(source=prompt, target=reply, comment="The prompt says what counts as a fact.")
            comment_link(source=reply, target=bare, comment="Remove the code fence.", edge_metadata=_UNFENCED)
            comment_link(source=bare, target=facts, comment=f"Parse the reply: {len(step.facts)} facts.")
        self.op_ids[EXTRACT, message.name] = op.op_id
        with comment_op_scope(
            op_name=UPDATE,
            comment="Decide how the facts change the memory, and change it.",
            category="update",
        ) as op:
            self._updated(facts, step)
        self.op_ids[UPDATE, message.name] = op.op_id

    def _updated(self, facts: RuntimeVariable, step: Remembered) -> None:
        decided = {"memory": step.actions} if step.facts else {}
        action = _reply("update_action", decided, encoding_fn=_indented)
        if not step.facts:
            comment_link(source=facts, target=action, comment="Without facts there is nothing to decide.")
            return
        similar = _variable(
            f"{step.similar} similar memories were found.",
            "similar_memories",
            "How many similar memories were shown; they stand in the instruction.",
            class_name="existing_memories",
        )
        template = _prompt("memory-update-decision-prompt", models.UPDATE_PROMPT, "update")
        instruction = _variable(
            step.instruction,
            "prompt",
            "The prompt with the facts and the similar memories filled in.",
            class_name="memory_update_task_instruction",
            metadata={"op_type": "update"},
        )
        reply = _reply("raw_memory_update_decision", step.decision_reply)
        bare = _reply("memory_update_decision_with_code_block_removing", step.decision)
        comment_link(source=facts, target=instruction, comment="The facts are filled in.")
        comment_link(source=similar, target=instruction, comment="The similar memories are filled in.")
        comment_link(source=template, target=instruction, comment="The prompt gives the rules.")
        comment_link(source=instruction, target=reply, comment="The instruction is read.")
        comment_link(source=reply, target=bare, comment="Remove the code fence.", edge_metadata=_UNFENCED)
        comment_link(source=bare, target=action, comment=f"Parse the reply: {len(step.actions)} actions.")
        for change in step.changes:
            self._changed(action, change)

    def _changed(self, action: RuntimeVariable, change: Change) -> None:
        before, after = change.before, change.after
        if after is None:
            if before is not None:
                marker = _variable("DELETED", "marker", "Marks a memory unit as deleted.", class_name="delete_marker")
                told = f"Memory unit {before.id} is deleted."
                comment_link(source=self._unit(before), target=marker, comment=told)
        elif before is None:
            self._entries[after.id] = asdict(after)
            told = f"Memory unit {after.id} is added."
            comment_link(source=action, target=self._unit(after), comment=told)
        else:
            with comment_mutation(
                target=self._entries[after.id],
                inputs=[action],
                mutation_comment=f"Memory unit {after.id} is updated.",
                mutation_category="update",
                reuse_op=True,
                **_UNIT,
            ):
                self._entries[after.id].update(asdict(after))

    def searched(self, question: Question, found: list[tuple[Unit, int]]) -> None:
        """Records the search for a question: an edge to each unit that was returned."""
        query = _query(question)
        with comment_op_scope(
            op_name=SEARCH,
            comment=f"A question searches the memory for the {TOP_K} units that share most words with it.",
            category="retrieval",
            metadata={"top_k": str(TOP_K)},
        ) as op:
            for unit, score in found:
                told = f"Memory unit {unit.id} is retrieved; it shares {score} words with the question."
                comment_op(inputs=[query], outputs=[self._unit(unit)], comment=told, reuse_op=True)
        self.op_ids[SEARCH, question.name] = op.op_id

    def answered(self, question: Question, units: list[Unit], context: str, prediction: str) -> Verdict:
        """Records the answer to a question and its judgement."""
        label = models.judge([question.golden_answer], prediction)
        score = float(json.loads(label)["label"] == "CORRECT")
        query = _query(question)
        read = _variable(context, "memory_context", "The retrieved memories as text.", class_name="context")
        said = _reply("prediction", prediction)
        golden = _variable(
            [question.golden_answer],
            "golden_answers",
            "The answers that count as right.",
            class_name="golden_answers",
            encoding_fn="\n".join,
        )
        response = _reply("judge_response", label)
        verdict = _variable(score, "variable", "1 if the answer is right, else 0.", class_name="judge_score")
        with comment_op_scope(
            op_name="question-answering",
            comment="Answer the question from the context.",
            category="evaluation",
        ):
            found = [self._unit(unit) for unit in units]
            comment_op(inputs=found, outputs=[read], comment="Write the memories as text.", reuse_op=True)
            prompt = _prompt("question-answering-prompt", models.ANSWER_PROMPT, "question-answering")
            inputs = [query, read, prompt]
            comment_op(inputs=inputs, outputs=[said], comment="Answer the question.", reuse_op=True)
        with comment_op_scope(
            op_name="llm-judge", comment="Judge the answer by the golden answers.", category="evaluation"
        ):
            prompt = _prompt("assistant-judge", models.JUDGE_PROMPT, "llm-judge", class_name="judge_prompt")
            inputs = [query, golden, prompt, said]
            comment_op(inputs=inputs, outputs=[response], comment="Compare the answers.", reuse_op=True)
            comment_link(source=response, target=verdict, comment="Turn the label into a score.")
        ids = (query.full_node_id, golden.full_node_id, said.full_node_id)
        return Verdict(question, score, prediction, *ids)

    def _unit(self, unit: Unit) -> tuple[Json, Json]:
        return self._entries[unit.id], _UNIT


def main() -> None:
    """Records the agent and writes both files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "examples"
    (folder / "sample").mkdir(parents=True, exist_ok=True)
    for name, content in zip(("sample/assistant.json", "truth.json"), record(), strict=True):
        with (folder / name).open("w", encoding="utf-8") as file:
            json.dump(content, file, indent=4, ensure_ascii=False)


def record() -> tuple[Json, Json]:
    """Runs the agent once and returns the recorded graph and the truth about its answers."""
    agent, recorder = MemoryAgent(), Recorder()
    with comment_graph(
        graph_id=GRAPH_ID,
        user_id=PERSON.lower(),
        project_id="MemoryAgent",
        strict=True,
        metadata={"layer_type": "MemoryAgent", "traj_metadata": {"speaker_a": PERSON, "speaker_b": ASSISTANT}},
    ) as graph:
        for session in sessions():
            with comment_session(
                session_id=f"{GRAPH_ID}-session-{session.number}",
                comment=f"The conversation of {session.date}.",
                category="memory_construction",
                metadata={"date": session.date},
            ):
                for message in session.messages:
                    recorder.remembered(message, agent.remember(message))
        found = {question: agent.search(question.text) for question in QUESTIONS}
        with comment_session(
            session_id=f"{GRAPH_ID}-search",
            comment="Each question searches the memory.",
            category="memory_search",
            metadata={"top_k": TOP_K},
        ):
            for question, scored in found.items():
                recorder.searched(question, scored)
        verdicts = []
        with comment_session(
            session_id=f"{GRAPH_ID}-evaluation",
            comment="Each question is answered from what its search found, and the answer is judged.",
            category="memory_evaluation",
        ):
            for question, scored in found.items():
                units = [unit for unit, _ in scored]
                step = agent.answer(question.text, units)
                verdicts.append(recorder.answered(question, units, step.context, step.prediction))
    return _with_relative_paths(graph.export_graph()), truth(verdicts, recorder.op_ids)


def _with_relative_paths(graph: Json) -> Json:
    # smartcomment notes the absolute file name of each call site. The sample has file names relative to the
    # project's root, without traces of the recording machine. Nothing else is changed.
    for records in graph["data"].values():
        for item in records:
            item["filename"] = Path(item["filename"]).relative_to(ROOT).as_posix()
            item["trigger_point"] = f"{item['filename']}:{item['lineno']}"
    return graph


def _indented(value: Json) -> str:
    return json.dumps(value, indent=4, sort_keys=True, ensure_ascii=False)


_UNFENCED = {"source_code": inspect.getsource(models.remove_code_fence)}
_UNIT: Json = {
    "id_strategy": lambda entry: f"memory-unit-{entry['id']}",
    "encoding_fn": _indented,
    "comment": "A unit of the memory.",
    "category": "memory_entry",
}


def _variable(value: object, category: str, comment: str, **options: object) -> RuntimeVariable:
    return comment_variable(value, to_runtime=True, category=category, comment=comment, **options)


def _reply(class_name: str, value: object, **options: object) -> RuntimeVariable:
    told = f"{class_name.replace('_', ' ').capitalize()}, written or parsed from a model's reply."
    return _variable(value, "llm_response", told, class_name=class_name, **options)


def _prompt(name: str, text: str, op_type: str, class_name: str | None = None) -> RuntimeVariable:
    return _variable(
        text,
        "prompt",
        f"The prompt for {op_type}.",
        id_strategy=lambda _: name,
        class_name=class_name,
        metadata={"op_type": op_type},
    )


def _query(question: Question) -> RuntimeVariable:
    return _variable(
        question.text,
        "message & query",
        "A question to the agent.",
        id_strategy=lambda _: question.name,
        class_name="query",
        metadata={
            "question_type": "single-hop" if len(question.evidence) == 1 else "multi-hop",
            "evidence": list(question.evidence),
            "speaker_names": [PERSON, ASSISTANT],
        },
    )


if __name__ == "__main__":
    main()

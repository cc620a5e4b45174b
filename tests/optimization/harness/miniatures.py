"""Small files in the layout of each published data set, without texts from the data sets."""

from __future__ import annotations

import json
from typing import Any

_FACTS = (
    ("My dog is called {name}.", "What is the dog called?", "{name}"),
    ("I moved to {place} in spring.", "Where did I move in spring?", "{place}"),
    ("I am allergic to {food}.", "What am I allergic to?", "{food}"),
)
_PEOPLE = (
    {"name": "Bo", "place": "Ghent", "food": "hazelnuts"},
    {"name": "Mia", "place": "Lyon", "food": "shellfish"},
)


def _said(person: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(text.format(**person), question, gold.format(**person)) for text, question, gold in _FACTS]


def locomo() -> list[Any]:
    """``locomo10.json``."""
    samples = []
    for number, person in enumerate(_PEOPLE, 1):
        facts = _said(person)
        conversation: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Ben"}
        for session, (text, _, _) in enumerate(facts, 1):
            conversation[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2026"
            conversation[f"session_{session}"] = [
                {"speaker": "Ann", "dia_id": f"D{session}:1", "text": text},
                {
                    "speaker": "Ben",
                    "dia_id": f"D{session}:2",
                    "text": "Nice!",
                    "img_url": ["x"],
                    "blip_caption": "a photo of a dog",
                },
            ]
        conversation["session_4_date_time"] = "2:00 pm on 9 May, 2026"
        qa: list[dict[str, Any]] = [
            {"question": question, "answer": gold, "evidence": [f"D{at}:1"], "category": 4}
            for at, (_, question, gold) in enumerate(facts, 1)
        ]
        qa.append({"question": "How many?", "answer": 2, "evidence": ["D1:1; D2:1"], "category": 1})
        qa.append({"question": "Which cat?", "adversarial_answer": "Tom", "evidence": ["D:99"], "category": 5})
        samples.append({"sample_id": f"conv-{number}", "conversation": conversation, "qa": qa, "event_summary": {}})
    return samples


def longmemeval() -> list[Any]:
    """``longmemeval_s.json``: each question has a history of unsorted sessions."""
    instances = []
    for number, (text, question, gold) in enumerate(_said(_PEOPLE[0]), 1):
        instances.append(
            {
                "question_id": f"q{number}" if number < 3 else f"q{number}_abs",
                "question_type": "single-session-user",
                "question": question,
                "answer": gold,
                "question_date": "2026/05/30 (Sat) 10:00",
                "haystack_session_ids": ["later", "earlier", "earlier"],
                "haystack_dates": ["2026/05/20 (Wed) 02:21", "2026/05/01 (Fri) 09:00", "2026/05/02 (Sat) 09:00"],
                "haystack_sessions": [
                    [{"role": "user", "content": text, "has_answer": True}, {"role": "assistant", "content": "Noted."}],
                    [{"role": "user", "content": "Hello."}],
                    [{"role": "user", "content": "Hello again."}],
                ],
                "answer_session_ids": ["later"],
            }
        )
    return instances


def realmem() -> dict[str, Any]:
    """``Ann_Example_dialogues_256k.json``."""
    plan = "Plan: three walks a week."

    def turn(speaker: str, content: str, **more: Any) -> dict[str, Any]:
        return {"speaker": speaker, "is_query": False, "content": content, "query_id": None} | more

    return {
        "_metadata": {"person": "Ann Example"},
        "dialogues": [
            {
                "session_identifier": "Fitness:S1",
                "session_uuid": "aa11",
                "current_time": "2026-05-01 (Friday)",
                "dialogue_turns": [turn("User", "I want three walks a week."), turn("Assistant", "Good.")],
                "extracted_memory": [{"index": "1", "type": "Dynamic", "content": plan, "source_turn": 1}],
            },
            {
                "session_identifier": "Fitness:S2",
                "session_uuid": "bb22",
                "current_time": "2026-05-02 (Saturday)",
                "dialogue_turns": [
                    turn("User", "Hello."),
                    turn("User", "How often do I walk?", is_query=True, query_id="Q-0001", category_name="Static"),
                    turn(
                        "Assistant",
                        "Three times a week.",
                        memory_used=[{"session_uuid": "aa11", "content": plan}],
                        memory_session_uuids=["aa11"],
                    ),
                ],
                "extracted_memory": [],
            },
        ],
    }


def memtracebench() -> dict[str, Any]:
    """A graph file with annotations."""
    facts = _said(_PEOPLE[1])
    nodes = [
        {
            "full_node_id": f"m{number}@1",
            "name": f"m{number}",
            "value": repr(text) if number > 1 else json.dumps({"content": text, "name": "Ann", "role": "user"}),
            "created_at": f"2026-05-0{number} 10:00:00.000",
            "category": "message",
            "session_id": "user-1-session-1" if number < 3 else "user-1-session-2",
            "metadata": {"speakers": "Ann", "timestamp": f"2026-05-0{number}T10:00:00"},
        }
        for number, (text, _, _) in enumerate(facts, 1)
    ]
    nodes.append({"full_node_id": "p@1", "name": "p", "value": "'x'", "created_at": "", "category": "variable"})
    annotations = [
        {
            "query_id": f"query:q{number}@1",
            "query": question,
            "golden_answers": [gold] if number > 1 else gold,
            "source_evidence_ids": [f"m{number}@1"],
            "final_error_type": "ResponseError",
        }
        for number, (_, question, gold) in enumerate(facts, 1)
    ]
    return {"graph_id": "graph-1", "user_id": "user-1", "data": {"nodes": nodes, "annotations": annotations}}


def lines() -> list[Any]:
    """Our own form, JSON lines."""
    return [
        {
            "user": f"user {number}",
            "sessions": [
                {
                    "id": f"s{at}",
                    "time": f"2026-05-0{at}T10:00:00Z",
                    "messages": [{"id": f"m{at}", "speaker": "Ann", "text": text}],
                }
                for at, (text, _, _) in enumerate(_said(person), 1)
            ],
            "questions": [
                {"id": f"q{at}", "question": question, "gold": gold, "evidence": [f"m{at}"]}
                for at, (_, question, gold) in enumerate(_said(person), 1)
            ],
        }
        for number, person in enumerate(_PEOPLE, 1)
    ]

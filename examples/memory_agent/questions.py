"""What the agent is asked after the last session, and why three of its answers are wrong."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """The true cause of a wrong answer, as a person who reads the rules would state it.

    Attributes:
        error_type: one of MemTrace's error types.
        op_name: the decisive operation.
        at: the message or the question that this operation handled.
        reason: what went wrong there.
    """

    error_type: str
    op_name: str
    at: str
    reason: str


@dataclass(frozen=True)
class Question:
    """A question, its golden answer and the messages that hold the answer.

    ``cause`` is for ``truth.json`` only: the agent never sees it.
    """

    name: str
    text: str
    golden_answer: str
    evidence: tuple[str, ...]
    cause: Cause | None = None


QUESTIONS: tuple[Question, ...] = (
    Question("assistant-qa-1", "What breed is Mara's dog?", "Wire-haired dachshund", ("U1:D1:5",)),
    Question("assistant-qa-2", "What is the name of Mara's dog?", "Biscuit", ("U1:D1:5",)),
    Question("assistant-qa-3", "In which town is Mara's cottage?", "Whitby", ("U1:D3:1",)),
    Question(
        "assistant-qa-4",
        "Does Mara still work at Hartley Insurance?",
        "No longer",
        ("U1:D1:3", "U1:D3:5"),
    ),
    Question(
        "assistant-qa-5",
        "Where does Mara take her pottery class?",
        "Kiln House",
        ("U1:D4:1", "U1:D5:1"),
    ),
    Question(
        "assistant-qa-6",
        "On which day of the week is Mara's pottery class?",
        "Thursday",
        ("U1:D4:1",),
        Cause(
            "UpdateError",
            "memory_system.update_memory_decision",
            "U1:D5:1",
            "The unit held the day of the pottery class. This update replaced its text by the newer, less"
            " specific fact, although the day was still valid.",
        ),
    ),
    Question(
        "assistant-qa-7",
        "What did the vet say gives Biscuit itchy ears?",
        "Chicken",
        ("U1:D2:3",),
        Cause(
            "ExtractionError",
            "memory_system.extract_facts",
            "U1:D2:3",
            "The extraction cut the relative clause off, and with it what the vet found. No unit ever held it.",
        ),
    ),
    Question(
        "assistant-qa-8",
        "What is Mara allergic to?",
        "Walnuts",
        ("U1:D1:7",),
        Cause(
            "RetrievalError",
            "memory_system.search_memory",
            "assistant-qa-8",
            "A current unit says that walnuts make Mara's throat swell up. It shares no word with the"
            " question and was not among the units returned.",
        ),
    ),
)

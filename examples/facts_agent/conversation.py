"""Nadia's days: what she tells her assistant, what is asked about it, and what can go wrong."""

from examples.shared.talk import Fault, Question, sessions

SESSIONS = sessions(
    (
        (
            "Nadia: I live in a flat above a bakery in Ghent.",
            "Assistant: Fresh bread every morning, then.",
            "Nadia: My sister Ilse teaches chemistry at a grammar school. She is very strict.",
            "Assistant: Strict teachers are remembered.",
            "Nadia: My bicycle is a red Gazelle with a wicker basket.",
            "Assistant: Lock it well.",
            "Nadia: I work as a nurse in the ward for newborn children.",
            "Assistant: What a beautiful place to work.",
        ),
        (
            Question("sister", "Which subject does her sister teach?", "chemistry", ("D1:3",)),
            Question("work", "In which ward does Nadia work?", "the ward for newborn children", ("D1:7",)),
        ),
    ),
    (
        (
            "Nadia: My piano teacher is Mrs Claes, the lesson is on Tuesday.",
            "Assistant: Enjoy the music.",
            "Nadia: I am allergic to hazelnuts and must carry tablets.",
            "Assistant: I will check each recipe.",
            "Nadia: My balcony has three pots of basil and one of lemon thyme.",
            "Assistant: Summer is near.",
        ),
        (
            Question("piano", "On which day is the piano lesson?", "Tuesday", ("D2:1",)),
            Question("balcony", "What does Nadia grow in pots on the balcony?", "basil lemon thyme", ("D2:5",)),
        ),
    ),
    (
        (
            "Nadia: I live in a narrow house near the docks of Antwerp now.",
            "Assistant: How is the new place?",
            "Nadia: I sold my bicycle to a student.",
            "Assistant: So you walk again.",
            "Nadia: On Friday my piano lesson begins an hour later than it used to.",
            "Assistant: I noted the new time.",
        ),
        (
            Question("home", "In which city does Nadia live?", "Antwerp", ("D3:1",)),
            Question("teacher", "Who is the piano teacher?", "Mrs Claes", ("D2:1",)),
            Question("school", "At what kind of school does Ilse teach?", "a grammar school", ("D1:3",)),
            Question("allergy", "To what is Nadia allergic?", "hazelnuts", ("D2:3",)),
            Question("ward", "Where does Nadia work as a nurse?", "newborn children", ("D1:7",)),
            Question("herbs", "How many pots of basil are on the balcony?", "three", ("D2:5",)),
        ),
    ),
)

FAULTS = (
    Fault("extraction", "extract", "hazelnuts", "allergy", "ExtractionError", "a message gives no fact"),
    Fault("add", "add", "hazelnuts", "allergy", "UpdateError", "a unit keeps the first word of its fact only"),
    Fault("overwrite", "update", "On Friday", "teacher", "UpdateError", "the new text replaces all that a unit said"),
    Fault("update", "update", "Antwerp", "home", "UpdateError", "a unit stays as it was"),
    Fault("deletion", "delete", "sold my bicycle", "school", "DeletionError", "another unit is deleted"),
    Fault("retrieval", "search", "as a nurse", "ward", "RetrievalError", "the search gives back what fits least"),
    Fault("prompt", "write_prompt", "Ilse", "school", "ResponseError", "a prompt leaves the best unit out"),
    Fault("response", "answer", "How many pots", "herbs", "ResponseError", "the model does not heed its context"),
)

"""Ines restores a boat: what she tells her assistant, what is asked about it, and what can go wrong."""

from examples.shared.talk import Fault, Question, sessions

SESSIONS = sessions(
    (
        (
            "Ines: I bought an old sailing boat called Marisol.",
            "Assistant: Congratulations! Where is she moored?",
            "Ines: She is moored in the harbour of Setubal, at the seventh pier.",
            "Assistant: A fine place to begin.",
            "Ines: The hull was built of cedar by my uncle Anselmo.",
            "Assistant: Then she belongs to the family.",
        ),
        (
            Question("name", "What is the boat called?", "Marisol", ("D1:1",)),
            Question("builder", "Who built the hull of the boat?", "uncle Anselmo", ("D1:5",)),
        ),
    ),
    (
        (
            "Ines: The mast cracked in a storm, so I ordered another one of spruce.",
            "Assistant: I hope that it arrives soon.",
            "Ines: My neighbour Bruno lends me his workshop at weekends.",
            "Assistant: That is kind of him.",
            "Ines: I paint the deck green, because blue was sold out.",
            "Assistant: It will look good on the water.",
        ),
        (
            Question("mast", "Which wood was ordered for the mast?", "spruce", ("D2:1",)),
            Question("workshop", "Whose workshop can Ines use?", "Bruno", ("D2:3",)),
        ),
    ),
    (
        (
            "Ines: The engine needs a pump that costs 340 euros.",
            "Assistant: That is a lot for something so small.",
            "Ines: The boat spends the winter in a dry dock in Lisbon.",
            "Assistant: Then nothing will freeze.",
            "Ines: Our first trip goes to the island of Berlenga.",
            "Assistant: Take a good camera with you!",
        ),
        (
            Question("pump", "How much does the pump cost?", "340 euros", ("D3:1",)),
            Question("harbour", "In which harbour was she moored?", "Setubal", ("D1:3",)),
            Question("deck", "Which colour does Ines paint the deck?", "green", ("D2:5",)),
            Question("trip", "Where does the first trip go?", "the island of Berlenga", ("D3:5",)),
        ),
    ),
)

FAULTS = (
    Fault("append", "append", "340 euros", "pump", "UpdateError", "a message is not appended"),
    Fault("window", "append", "dry dock", "harbour", "UpdateError", "the buffer is cut: its oldest messages are gone"),
    Fault(
        "prompt",
        "write_prompt",
        "In which harbour",
        "harbour",
        "ResponseError",
        "a prompt has the last messages only",
    ),
    Fault("response", "answer", "paint the deck?", "deck", "ResponseError", "the model does not heed its context"),
)

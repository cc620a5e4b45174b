"""The conversation that the agent remembers: Mara and her assistant, spring 2025."""

from dataclasses import dataclass
from datetime import datetime, timedelta

PERSON = "Mara"
ASSISTANT = "Assistant"


@dataclass(frozen=True)
class Message:
    """One message of the conversation.

    Attributes:
        name: ``U1:D<session>:<turn>``, both counted from 1.
        speaker: who says it.
        role: ``user`` or ``assistant``.
        text: what is said.
        timestamp: local time, ISO 8601 without a zone.
    """

    name: str
    speaker: str
    role: str
    text: str
    timestamp: str

    def payload(self) -> dict[str, str]:
        """Returns what the agent is told of the message."""
        return {"content": self.text, "name": self.speaker, "role": self.role, "timestamp": self.timestamp}


@dataclass(frozen=True)
class Session:
    """One sitting of the conversation; its messages are a minute apart."""

    number: int
    date: str
    messages: tuple[Message, ...]


_SITTINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "2025-03-08T09:30:00",
        (
            "Hello, nice to meet you! I live in a flat in Leeds.",
            "Nice to meet you too, Mara. What else should I keep in mind for you?",
            "I work as a bookkeeper at Hartley Insurance. It pays the bills.",
            "Noted. And who shares your days?",
            "My dog Biscuit is a wire-haired dachshund. He sleeps on the sofa until noon.",
            "He sounds like good company.",
            "One more thing for recipes. Walnuts make my throat swell up.",
            "Understood, I will keep every recipe safe for you.",
        ),
    ),
    (
        "2025-03-29T18:10:00",
        (
            "My colleague Jonas is allergic to cats, but he adores Biscuit.",
            "Biscuit has an admirer at the office, then.",
            "I took Biscuit to the vet yesterday, who found that chicken gives him itchy ears.",
            "Poor Biscuit! I hope that he feels better soon.",
            "He does. I am looking at houses by the sea on Sunday.",
            "How exciting! Take a warm coat.",
        ),
    ),
    (
        "2025-04-26T10:45:00",
        (
            "Big news today! I moved from my flat in Leeds to a cottage in Whitby.",
            "Congratulations! How does the new place feel?",
            "My bedroom window looks over the harbour. The gulls wake us at five.",
            "An early start for everybody, then.",
            "I no longer work as a bookkeeper at Hartley Insurance. I start at the library on the twelfth of May.",
            "Books instead of ledgers, that suits you.",
            "Thank you! What should I read first?",
            "Something with a lighthouse in it, perhaps.",
        ),
    ),
    (
        "2025-05-24T17:20:00",
        (
            "I joined a pottery class on Thursday evenings at the Kiln House.",
            "Lovely! What will you make first?",
            "I want to make a butter dish for my mother. Her old one cracked in January.",
            "She will treasure it.",
            "My brother Theo lives in Ghent and plays the cello.",
            "Will you hear him play this summer?",
            "Yes! I booked the ferry from Hull to Rotterdam for the second of August.",
            "Shall I write a note for the dog sitter?",
            "Please do. My dog Biscuit is a wire-haired dachshund.",
            "I will tell the sitter about the sofa, too.",
        ),
    ),
    (
        "2025-06-21T08:15:00",
        (
            "I am really enjoying the pottery class at the Kiln House.",
            "That is good to hear. How is the butter dish?",
            "My butter dish came out of the oven in one piece!",
            "Your mother will be proud. Is the trip still on?",
            "It is, a little later. I rebooked the ferry from Hull for the ninth of August.",
            "I have put the new date in your calendar.",
            "We walk along the pier before breakfast now. Life is good here.",
            "Enjoy the sea air, both of you.",
        ),
    ),
)


def sessions() -> tuple[Session, ...]:
    """Returns the five sittings in order; Mara speaks first and they take turns."""
    result = []
    for number, (start, texts) in enumerate(_SITTINGS, 1):
        began = datetime.fromisoformat(start)
        messages = []
        for turn, text in enumerate(texts, 1):
            by_person = turn % 2 == 1
            messages.append(
                Message(
                    name=f"U1:D{number}:{turn}",
                    speaker=PERSON if by_person else ASSISTANT,
                    role="user" if by_person else "assistant",
                    text=text,
                    timestamp=(began + timedelta(minutes=turn - 1)).isoformat(),
                )
            )
        result.append(Session(number, began.date().isoformat(), tuple(messages)))
    return tuple(result)

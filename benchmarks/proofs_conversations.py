"""Small conversations of our own, with questions: what is said, asked, expected, and how a reader finds the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is said, and what is asked about it later.

    Attributes:
        text: the message; the answer stands in it between square brackets.
        question: what is asked.
    """

    text: str
    question: str

    @property
    def said(self) -> str:
        """The message as it is said."""
        return self.text.replace("[", "").replace("]", "")

    @property
    def answer(self) -> str:
        """The gold answer."""
        return self.text[self.text.index("[") + 1 : self.text.index("]")]

    @property
    def before(self) -> str:
        """The words before the answer, by which a reader finds it."""
        return " ".join(self.text[: self.text.index("[")].split()[-3:])


PEOPLE: dict[str, tuple[Fact, ...]] = {
    "ines": (
        Fact("My dog is called [Bruno] and barks at bicycles.", "What is the dog of Ines called?"),
        Fact("I moved to [Trieste] in the spring.", "Where did Ines move to in the spring?"),
        Fact("My sister Carla works as a [glazier] now.", "What does her sister Carla work as?"),
        Fact("I am allergic to [hazelnuts], sadly.", "Which food makes her ill?"),
        Fact("On Tuesdays I play [badminton] with Olga.", "What does Ines play on Tuesdays?"),
        Fact("My car is a red [Panda] from 1994.", "Which vehicle stands in front of her house?"),
        Fact("The code of my garage is [4417], please remember it.", "What is the code of the garage?"),
        Fact("My favourite dish is [risotto] with saffron.", "What is the favourite dish of Ines?"),
        Fact("I learn [Finnish] with a neighbour.", "Which language does she study?"),
        Fact("My dentist is Doctor [Moretti] in Via Roma.", "Who is the dentist of Ines?"),
    ),
    "tom": (
        Fact("I bought a [cello] last week.", "What did Tom buy last week?"),
        Fact("My flight to Lisbon leaves on [Thursday] morning.", "On which day does the flight to Lisbon leave?"),
        Fact("My daughter Maya is [seven] years old.", "How old is his daughter Maya?"),
        Fact("I keep the spare key under the [flowerpot] outside.", "Where does he hide what opens his door?"),
        Fact("My boss is called [Henrietta] and comes from Hull.", "What is the boss of Tom called?"),
        Fact("I gave up coffee and drink [rooibos] instead.", "What does Tom drink instead of coffee?"),
        Fact("The wedding of Paul will be in [Ghent] in June.", "Where will the wedding of Paul be?"),
        Fact("My knee was operated by Doctor [Sand] in May.", "Which surgeon treated him?"),
        Fact("My bike is locked with the number [9302] now.", "Which number locks the bike?"),
        Fact("I am reading [Middlemarch] at the moment.", "Which novel lies on his bedside table?"),
    ),
    "aya": (
        Fact("I teach [geography] at a school in Leeds.", "What does Aya teach at a school?"),
        Fact("My cat is called [Miso] and sleeps all day.", "What is the cat of Aya called?"),
        Fact("I take [magnesium] before I go to bed.", "Which supplement does she swallow at night?"),
        Fact("My brother Ken lives in [Osaka] again.", "In which city does brother Ken live?"),
        Fact("I paint with [gouache] on Sundays.", "What does Aya paint with on Sundays?"),
        Fact("My rent is [840] pounds a month.", "How much is the rent of Aya?"),
        Fact("I broke my [wrist] when I was skating.", "Which bone did she injure?"),
        Fact("The plumber comes on [Friday] at noon.", "When does the plumber come?"),
        Fact("My locker at the pool is number [61] by the door.", "Which locker at the pool is hers?"),
        Fact("I support [Everton] like my grandfather.", "Of which football club is she a fan?"),
    ),
    "luca": (
        Fact("I bake with [spelt] flour only.", "Which flour does Luca bake with?"),
        Fact("My landlord is called [Brandt] and lives upstairs.", "What is the landlord of Luca called?"),
        Fact("I sold my [telescope] to a student.", "What did Luca sell to a student?"),
        Fact("My mother grows [quinces] behind the house.", "Which fruit comes from the garden of his parents?"),
        Fact("I volunteer at the [library] on Mondays.", "Where does Luca volunteer on Mondays?"),
        Fact("My passport ends in [March] next year.", "When must he renew his travel papers?"),
        Fact("The choir sings [Purcell] this winter.", "What does the choir sing this winter?"),
        Fact("I fear [wasps] more than anything.", "Which animals scare him?"),
        Fact("My train leaves from platform [nine] every day.", "From which platform does the train leave?"),
        Fact("I was born in [Bolzano] in 1988.", "What is his native town?"),
    ),
}

_SMALL_TALK = (
    "The weather was mild today.",
    "I slept badly, the street was loud.",
    "The queue at the bakery was long again.",
    "My phone is slow these days.",
    "I watched an old film yesterday.",
)
_A_SITTING = 2


def lines(least: int) -> Iterator[dict[str, Any]]:
    """The conversations in the form of lines; each sitting has two facts and some small talk.

    Args:
        least: number of people.
    """
    for user, facts in list(PEOPLE.items())[:least]:
        sessions, questions = [], []
        for start in range(0, len(facts), _A_SITTING):
            number = start // _A_SITTING
            messages = [
                {"id": f"m{start + place}", "speaker": user.title(), "text": fact.said}
                for place, fact in enumerate(facts[start : start + _A_SITTING])
            ]
            messages.insert(
                1, {"id": f"t{number}", "speaker": user.title(), "text": _SMALL_TALK[number % len(_SMALL_TALK)]}
            )
            sessions.append({"id": f"s{number}", "time": f"2026-03-{number + 1:02}T09:00:00Z", "messages": messages})
        for place, fact in enumerate(facts):
            questions.append(
                {"id": f"q{place}", "question": fact.question, "gold": fact.answer, "evidence": [f"m{place}"]}
            )
        yield {"user": user, "sessions": sessions, "questions": questions}


def write(path: Path, people: int) -> None:
    """Write the conversations of some people."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines(people)), "utf-8")

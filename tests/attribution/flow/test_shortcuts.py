"""What the free pass leaves out to be quick changes nothing: each shortcut gives what looking at everything gives."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random

import pytest_asyncio

from attribution.free_pass.detail_finder import DetailFinder
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.needed.content import PreparedContent, Rarity, content
from attribution.needed.evidence_sentences import best_detail, details_by_message
from attribution.needed.messages import Messages
from attribution.needed.presence import ABSENT, HOLDS, LARGE, Detail
from attribution.text.lexicon import Alike
from attribution.text.segments import passage
from attribution.trace.graph import TraceGraph
from store.open import open_database
from tests.attribution.flow.stories import Story

WORDS = [
    *("boat", "ship", "vessel", "harbour", "port", "car", "automobile", "dog", "puppy", "cat", "kitten", "mother"),
    *("mom", "father", "dad", "doctor", "physician", "nurse", "happy", "glad", "sad", "angry", "buy", "purchase"),
    *("travel", "journey", "trip", "meal", "dinner", "lunch", "bread", "cheese", "wine", "hat", "scarf", "coat"),
    *("blue", "green", "red", "garden", "flower", "rose", "tree", "forest", "river", "lake", "swim", "run", "walk"),
    *("7", "12", "40", "1998", "2023"),
]
DATES = ("on 3 May 2023", "yesterday", "last week", "in June 2022", "")


def sentence(random: Random) -> str:
    words = random.choices(WORDS, k=random.randint(2, 9))
    return f"{' '.join(words).capitalize()} {random.choice(DATES)}".strip() + "."


def message(random: Random) -> str:
    return json.dumps(
        {
            "content": " ".join(sentence(random) for _ in range(random.randint(1, 4))),
            "name": random.choice(["Ada", "Ben"]),
        }
    )


@pytest_asyncio.fixture
async def told(tmp_path: Path) -> tuple[Story, TraceGraph, Messages]:
    random = Random(1)
    story = Story.of("shortcuts", *dict.fromkeys(message(random) for _ in range(60)))
    async with await open_database(f"sqlite:///{tmp_path / 'shortcuts.db'}") as database:
        store = database.project("shortcuts")
        await story.trace.write(store)
        graph = await TraceGraph.load(store, story.trace.trace.id)
        return story, graph, await Messages.read(graph)


async def test_messages_that_can_not_tell_a_sentence_are_left_out(told: tuple[Story, TraceGraph, Messages]) -> None:
    story, _, messages = told
    random = Random(2)
    found = 0
    for _ in range(150):
        failure = story.ask(sentence(random), sentence(random), sentence(random), [], evidence=None)
        want = content(failure.gold_answers[0], messages.rarity)
        details = [best_detail(messages, failure, [one], want) for one in messages.ids]
        plain = [one for one in details if one is not None and one.literal]
        assert details_by_message(messages, failure, messages.ids, want) == plain
        found += len(plain)
    assert 150 < found < 150 * len(messages.ids) / 2


async def test_a_bound_leaves_out_what_is_less_and_nothing_else(told: tuple[Story, TraceGraph, Messages]) -> None:
    story, graph, messages = told
    random = Random(3)
    less = as_much = quoted = 0
    for _ in range(40):
        failure = story.ask(sentence(random), sentence(random), "Something else.", [], evidence=None)
        want = content(failure.gold_answers[0], messages.rarity)
        detail = best_detail(messages, failure, random.sample(messages.ids, 3), want)
        assert detail is not None
        finder = FailureInTrace.of(graph, messages, failure, detail).finder
        others = [one.sentence.text for message in messages.ids for one in messages.sentences[message]]
        texts = [
            " ".join(random.choice([sentence(random), random.choice(others)]) for _ in range(random.randint(1, 6)))
            for _ in range(20)
        ]
        origins = messages.origins
        read = [(text, passage(text)) for text in texts]
        quoted += sum(len(places) - len(origins.not_quoted(text, places, detail.message_id)) for text, places in read)
        is_foreign = partial(origins.is_foreign, message_id=detail.message_id)
        exact = [DetailFinder(detail, is_foreign).presence(text) for text in texts]
        for least in (0.0, 0.4, HOLDS, 0.8):
            for look, one in zip(finder.look_at(texts), exact, strict=True):
                assert one.score <= max(look.most, 0.0)
                bounded = finder.in_text(look, least=least)
                if one.score >= least:
                    assert bounded == one
                    as_much += bool(one.score)
                else:
                    assert bounded.score < least
                    less += 1
    assert min(less, as_much, quoted) > 80


async def test_where_a_sentence_is_from_does_not_depend_on_the_shortcuts(
    told: tuple[Story, TraceGraph, Messages],
) -> None:
    story, _, messages = told
    random, origins = Random(4), messages.origins
    answers = set()
    for _ in range(60):
        failure = story.ask(sentence(random), sentence(random), "Something else.", [], evidence=None)
        detail = best_detail(messages, failure, [random.choice(messages.ids)], content("boat", messages.rarity))
        assert detail is not None
        for _ in range(20):
            (placed, *_) = messages.sentences[random.choice(messages.ids)]
            words = list(placed.sentence.stems)
            random.shuffle(words)
            other = content(" ".join([*words[:3], *random.sample(WORDS, 2)]), messages.rarity)
            stems = frozenset(other.words)
            if len(stems) < 2 or stems in origins._sayers:
                continue
            scores = origins._likenesses(stems)
            others = max((score for one, score in scores.items() if one != detail.message_id), default=0.0)
            said = [frozenset(one.sentence.stems) for one in messages.sentences[detail.message_id]]
            own = max(origins._likeness(stems, one) for one in said)
            is_foreign = others > 0.15 and others > own + 0.15
            assert origins._is_of_another(stems, detail.message_id) == is_foreign
            answers.add(is_foreign)
    assert answers == {True, False}


def test_a_text_too_large_to_be_read_whole_is_read_by_each_around_what_it_looks_for() -> None:
    filler = "Nothing of this matters to anybody here. " * 50_000
    text = f"{filler}Ada adopted a kitten in spring. {filler}Ben repaired the car. {filler}"
    assert len(text) > LARGE
    alike, rarity = Alike(), Rarity([])
    kitten = _whole("Ada adopted a kitten.", rarity)
    car = _whole("Ben repaired the automobile.", rarity)
    assert (
        DetailFinder(kitten, lambda _: False, alike).presence(text).quote.strip() == "Ada adopted a kitten in spring."
    )
    found = DetailFinder(car, lambda _: False, alike).presence(text)
    assert (found.quote.strip(), found.score > HOLDS) == ("Ben repaired the car.", True)
    absent = _whole("Cleo sold an aeroplane.", rarity)
    assert DetailFinder(absent, lambda _: False, alike).presence(text) == ABSENT


def _whole(text: str, rarity: Rarity) -> Detail:
    (placed,) = passage(text)
    core = content(text, rarity)
    return Detail("message", core, {}, placed.sentence, None, 1.0, unique=True, literal=False, rarity=rarity)


def test_a_sentence_that_may_not_have_a_share_has_less() -> None:
    random, alike = Random(6), Alike()
    sentences = [placed for _ in range(150) for placed in passage(sentence(random))]
    rarity = Rarity(placed.sentence.stems for placed in sentences)
    alike.add(stem for placed in sentences for stem in placed.sentence.stems)
    left = 0
    for _ in range(60):
        sought = PreparedContent(content(sentence(random), rarity), alike)
        for share in (0.2, 0.45, 0.75, 1.0):
            may_have = sought.may_have(share)
            for placed in sentences:
                if not may_have(placed.sentence):
                    assert round(sought.share(placed), 6) < share
                    left += 1
    assert left > 5_000


def test_what_becomes_known_later_is_looked_up_like_what_was_known_before() -> None:
    random, alike, rarity = Random(8), Alike(), Rarity([])
    sentences = [placed for _ in range(100) for placed in passage(sentence(random))]
    wants = [content(sentence(random), rarity) for _ in range(30)]
    grown = [PreparedContent(want, alike) for want in wants]
    for placed in sentences:
        alike.add(placed.sentence.stems)
        for sought in random.sample(grown, 5):
            sought.look_up()
    for want, sought in zip(wants, grown, strict=True):
        sought.look_up()
        anew = PreparedContent(want, alike)
        assert [sought.share(one) for one in sentences] == [anew.share(one) for one in sentences]
        assert set(sought.telling) == set(anew.telling)
        may_have, may_have_anew = sought.may_have(0.5), anew.may_have(0.5)
        assert [may_have(one.sentence) for one in sentences] == [may_have_anew(one.sentence) for one in sentences]

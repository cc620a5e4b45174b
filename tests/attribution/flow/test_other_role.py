"""An answer with the gold answer's words in another role, or without what stands in brackets, is not surely right."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from attribution.free_pass.trial import SURE
from attribution.needed.optional_parts import without_brackets
from attribution.needed.other_role import Role, role
from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('roles') / 'roles.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("Elsa", "Nils, Elsas bror, kommer med stegen.", "Vem kommer med stegen?"),
        ("Elsa", "It is Elsa's brother Nils.", "Who brings the ladder?"),
        ("Elsa", "Nils, the brother of Elsa.", "Who brings the ladder?"),
        ("Hans", "Hans' Bruder Karl bringt die Leiter.", "Wer bringt die Leiter?"),
        ("Elsa", "Karl, der Bruder von Elsa.", "Wer bringt die Leiter?"),
        ("Elsa", "Il fratello di Elsa, Luca.", "Chi porta la scala?"),
        ("Elsa", "O irmão da Elsa, Luís.", "Quem traz a escada?"),
        ("舞", "舞さんの弟の健太さんです。", "誰が来ますか。"),
        ("माया", "माया का भाई रोहन आएगा।", "कौन आएगा?"),
        ("Chez Lucie", "Elle est chez vous, Lucie l'a rapportée.", "Où est la scie ?"),
        ("With Tom", "It is with you, Tom brought it back.", "Where is the saw?"),
        ("Bei Jan", "Bei Lea. Jan hat sie ihr gebracht.", "Wo ist die Säge?"),
        ("Green", "Blue instead of green.", "Which colour is it?"),
        ("Mit dem Zug", "Mit dem Bus statt mit dem Zug.", "Womit fährt sie?"),
        ("Verde", "Azul en lugar de verde.", "¿De qué color es?"),
    ],
)
def test_the_words_of_the_gold_answer_in_another_role(gold: str, answer: str, question: str) -> None:
    assert role([gold], answer, question) is Role.OTHER


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("Elsa", "Elsa kommer med stegen.", "Vem kommer med stegen?"),
        ("Elsa", "Elsa's bringing it.", "Who brings the ladder?"),
        ("Elsa", "It is Nils's sister Elsa.", "Who brings the ladder?"),
        ("Elsa's", "At Elsa's flat.", "Where do we meet?"),
        ("Oxford", "At the University of Oxford.", "Where did she study?"),
        ("Rio de Janeiro", "No Rio de Janeiro.", "Onde?"),
        ("With Tom", "With Lea, Tom and Joe.", "With whom?"),
        ("With Tom", "With you and Tom.", "With whom?"),
        ("Bei Jan", "Die Säge ist bei Jan.", "Wo ist die Säge?"),
        ("In Berlin", "In Kreuzberg, Berlin.", "Where does he live?"),
        ("Green", "Green instead of blue.", "Which colour is it?"),
        ("舞", "舞さんです。", "誰が来ますか。"),
        ("the red tent", "the red tent", "Which?"),
    ],
)
def test_the_words_of_the_gold_answer_in_their_own_role(gold: str, answer: str, question: str) -> None:
    assert role([gold], answer, question) is Role.OWN


def test_an_owner_alone_may_be_meant() -> None:
    assert role(["Elsa"], "Elsa's brother.", "Who brings the ladder?") is Role.UNSURE
    assert role(["Elsa", "Elsa's brother"], "Elsa's brother.", "Who brings the ladder?") is Role.OWN


@pytest.mark.parametrize(
    ("answer", "is_right"), [("Elsa brings it.", True), ("Nils, Elsa's brother.", False), ("Elsa's brother.", None)]
)
async def test_an_owner_is_not_surely_the_gold_answer(embedded: Database, answer: str, is_right: bool | None) -> None:
    told = talk(("Ada", "Elsa brings the ladder on Friday."), ("Ben", "It rains."))
    unit = told.store(0, "Elsa brings the ladder on Friday.")
    failure = told.ask("Who brings the ladder?", "Elsa", answer, [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert (verdict.error_type is ErrorType.JUDGE and verdict.confidence >= SURE) is (is_right is True)
    assert (verdict.error_type is ErrorType.RESPONSE) is (is_right is False)
    assert is_right or verdict.confidence < SURE


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("walnuts (swelling)", "You can't eat walnuts.", ErrorType.JUDGE),
        ("walnuts (swelling)", "You can't eat prawns.", ErrorType.RESPONSE),
        ("two (of five)", "Three.", ErrorType.RESPONSE),
        ("Lin (a neighbour) did", "Lin.", ErrorType.JUDGE),
    ],
)
async def test_what_stands_in_brackets_may_be_left_out(
    embedded: Database, gold: str, answer: str, expected: ErrorType
) -> None:
    told = talk(("Ada", f"What I can't eat: {gold}."), ("Ben", "It rains."))
    unit = told.store(0, f"Ada can't eat {gold}.")
    failure = told.ask("What can't Ada eat?", gold, answer, [unit])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is expected
    assert expected is not ErrorType.JUDGE or verdict.confidence < SURE


def test_brackets_are_needed_if_two_things_are_asked() -> None:
    assert without_brackets("walnuts (swelling)", "What can't I eat?") == "walnuts"
    assert without_brackets("walnuts (swelling)", "What can't I eat, and why?") is None
    assert without_brackets("Nüsse (Schwellung)", "Was vertrage ich nicht und wie zeigt es sich?") is None
    assert without_brackets("(swelling)", "What can't I eat?") is None
    assert without_brackets("walnuts", "What can't I eat?") is None
    assert without_brackets("胡桃（腫れ）", "何が食べられませんか。") == "胡桃"


@pytest.mark.parametrize(
    ("gold", "answer", "question"),
    [
        ("Fridays at 8:45", "On Mondays at 8:45.", "On which day and when is the ferry?"),
        ("Freitags um 8:45 Uhr", "Montags um 8:45 Uhr.", "Wann geht die Fähre?"),
        ("Fridays at 8:45", "On Mondays at a quarter to nine.", "When is the ferry?"),
    ],
)
async def test_the_same_hour_on_another_day_of_the_week_is_another_answer(
    embedded: Database, gold: str, answer: str, question: str
) -> None:
    told = talk(("halla", f"The ferry, die Fähre: {gold}."), ("halla", "The choir sings in the barn."))
    verdict, _ = await verdict_on(embedded, told, told.ask(question, gold, answer, [told.store(0, gold)]))
    assert verdict.error_type is ErrorType.RESPONSE


async def test_an_address_without_its_number_is_not_surely_right(embedded: Database) -> None:
    address = "84 Harbour Mill Lane"
    others = [("halla", f"The choir sings song number {number} in the barn.") for number in range(8)]
    told = talk(("halla", f"The parcel goes to {address}."), *others)
    failure = told.ask("Where does the parcel go?", address, "Harbour Mill Lane.", [told.store(0, "Harbour Mill Lane")])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, verdict.confidence < SURE) == (ErrorType.JUDGE, True)

"""Words in other forms, of languages without a stemmer here: they prove neither a loss nor silence."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from attribution.free_pass.other_forms import IN_OTHER_FORMS
from attribution.free_pass.trial import SURE
from attribution.text.word_forms import may_be_form
from schema.kinds import ErrorType
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.test_premises import talk
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('forms') / 'forms.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("one", "other", "is_like"),
    [
        ("đakovu", "đakovo", True),
        ("slavonije", "slavonski", True),
        ("hrasta", "hrast", True),
        ("חליל", "בחליל", True),
        ("rana", "rano", False),
        ("slavonije", "slavensko", False),
        ("hrast", "hrastovina", False),
        ("a7310", "a7319", False),
        ("flute", "affluteb", False),
    ],
)
def test_forms_begin_alike_and_differ_in_the_ending(one: str, other: str, is_like: bool) -> None:
    assert may_be_form(one, other) is is_like
    assert may_be_form(other, one) is is_like


@pytest.mark.parametrize(
    ("unit", "is_kept"),
    [("Bačva: slavonski hrast, graševina.", True), ("Bačva: bagrem, graševina.", False)],
)
async def test_what_is_written_in_other_forms_is_no_sure_loss(embedded: Database, unit: str, is_kept: bool) -> None:
    said = "Bačva je od hrasta iz Slavonije, a u njoj je graševina."
    told = talk(("Ada", said), ("Ben", "Pada kiša."))
    failure = told.ask("Od kojeg je drveta?", "hrasta iz Slavonije", "Ne znam.", [told.store(0, unit)])
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is ErrorType.EXTRACTION
    assert (verdict.confidence < SURE) is is_kept
    assert (IN_OTHER_FORMS in verdict.reason) is is_kept


@pytest.mark.parametrize(("gold", "is_told"), [("Đakovo", True), ("Osijek", False)])
async def test_a_message_with_the_right_answer_in_another_form_is_shown(
    embedded: Database, gold: str, is_told: bool
) -> None:
    told = talk(("Ada", "Etikete tiska gospođa Vlatka u Đakovu."), ("Ben", "Pada kiša."))
    unit = told.store(0, "Etikete tiska gospođa Vlatka.")
    failure = told.ask("U kojem gradu se tiskaju etikete?", gold, "Grad nije zapisan.", [unit], evidence=None)
    verdict, _ = await verdict_on(embedded, told, failure)
    assert verdict.error_type is None
    message = told.evidence[0].id[:8]
    assert (f"{message} has words like them, perhaps in other forms: “Etikete" in verdict.reason) is is_told
    assert (f"--evidence {message}" in verdict.reason) is is_told

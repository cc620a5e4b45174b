"""A program in another script is recorded and judged as the same program in English."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import memtrace
import pytest
from memtrace.instruments import handed_out
from memtrace.instruments.handed_out import Given
from memtrace.instruments.texts import KnownTexts

from store.contract.protocol import Database
from tests.cases.recorded import Case, judged

FAULTS = {"update": "UpdateError", "search": "RetrievalError", "answer": "ResponseError"}


@dataclass(frozen=True)
class Words:
    """The texts of the program: three messages with the fact of each, and a question about the first."""

    messages: tuple[str, str, str]
    facts: tuple[str, str, str]
    question: str
    gold: str
    wrong: str


ENGLISH = Words(
    ("In my kitchen lives a grey parrot", "On Saturdays I swim in the lake", "My sister works as a nurse in Lisbon"),
    ("A grey parrot lives in the user's kitchen", "The user swims in the lake on Saturdays", "The sister is a nurse"),
    "Which animal lives in my kitchen",
    "a grey parrot",
    "a brown dog",
)
OTHERS = {
    "chinese": Words(
        ("我在厨房里养了一只灰鹦鹉", "我每个星期六都在湖里游泳", "我姐姐在里斯本当护士"),
        ("用户在厨房里养了一只灰鹦鹉", "用户每个星期六在湖里游泳", "用户的姐姐是里斯本的护士"),
        "我的厨房里养了什么动物",
        "灰鹦鹉",
        "棕色的狗",
    ),
    "japanese": Words(
        ("台所で灰色のオウムを飼っています", "毎週土曜日に湖で泳ぎます", "姉はリスボンで看護師をしています"),
        ("ユーザーは台所で灰色のオウムを飼っている", "ユーザーは土曜日に湖で泳ぐ", "姉はリスボンの看護師である"),
        "台所で飼っている動物は何ですか",
        "灰色のオウム",
        "茶色の犬",
    ),
    "korean": Words(
        ("부엌에서 회색 앵무새를 키워요", "토요일마다 호수에서 수영해요", "언니는 리스본에서 간호사로 일해요"),
        ("사용자는 부엌에서 회색 앵무새를 키운다", "사용자는 토요일에 호수에서 수영한다", "언니는 리스본의 간호사이다"),
        "부엌에서 키우는 동물은 무엇인가요",
        "회색 앵무새",
        "갈색 강아지",
    ),
    "thai": Words(
        ("ฉันเลี้ยงนกแก้วสีเทาไว้ในห้องครัว", "ฉันว่ายน้ำในทะเลสาบทุกวันเสาร์", "พี่สาวของฉันเป็นพยาบาลที่ลิสบอน"),
        ("ผู้ใช้เลี้ยงนกแก้วสีเทาในห้องครัว", "ผู้ใช้ว่ายน้ำในทะเลสาบวันเสาร์", "พี่สาวของผู้ใช้เป็นพยาบาลในลิสบอน"),
        "ในห้องครัวเลี้ยงสัตว์อะไร",
        "นกแก้วสีเทา",
        "สุนัขสีน้ำตาล",
    ),
    "hindi": Words(
        ("मैं रसोई में एक धूसर तोता पालता हूँ", "मैं हर शनिवार झील में तैरता हूँ", "मेरी बहन लिस्बन में नर्स है"),
        ("उपयोगकर्ता रसोई में एक धूसर तोता पालता है", "उपयोगकर्ता शनिवार को झील में तैरता है", "बहन लिस्बन में नर्स है"),
        "रसोई में कौन सा जानवर पलता है",
        "धूसर तोता",
        "भूरा कुत्ता",
    ),
    "arabic": Words(
        ("أربي ببغاء رماديا في المطبخ", "أسبح في البحيرة كل يوم سبت", "تعمل أختي ممرضة في لشبونة"),
        ("يربي المستخدم ببغاءً رماديًا في المطبخ", "يسبح المستخدم في البحيرة يوم السبت", "أخت المستخدم ممرضة في لشبونة"),
        "أي حيوان أربي في المطبخ",
        "ببغاء رمادي",
        "كلب بني",
    ),
    "russian": Words(
        ("У меня на кухне живёт серый попугай", "По субботам я плаваю в озере", "Моя сестра — медсестра в Лиссабоне"),
        ("На кухне живёт серый попугай пользователя", "Пользователь плавает в озере", "Сестра — медсестра в Лиссабоне"),
        "Какое животное живёт у меня на кухне",
        "серый попугай",
        "коричневая собака",
    ),
    "turkish": Words(
        ("MUTFAKTA GRİ BİR PAPAĞAN VAR, ADI IŞIK", "Her cumartesi gölde yüzüyorum", "Ablam Lizbon'da hemşire"),
        ("Mutfakta gri bir papağan var, adı Işık", "Kullanıcı cumartesileri gölde yüzüyor", "Ablası Lizbon'da hemşire"),
        "Mutfakta hangi hayvan var",
        "gri papağan Işık",
        "kahverengi köpek",
    ),
    "german": Words(
        ("In meiner Küche lebt ein Graupapagei", "Samstags schwimme ich im Bodensee", "Meine Schwester pflegt Kranke"),
        (
            "In der Küche des Nutzers lebt ein Graupapagei",
            "Der Nutzer schwimmt im Bodensee",
            "Die Schwester pflegt Kranke",
        ),
        "Welches Tier lebt in meiner Küche",
        "ein Graupapagei",
        "ein brauner Hund",
    ),
}


def program(words: Words, fault: str) -> None:
    """An agent that keeps a note of each message; ``fault`` is the operation that goes wrong."""

    @memtrace.operation(kind="Extraction")
    def extract(message: str) -> str:
        return words.facts[words.messages.index(message)]

    @memtrace.operation(kind="Update")
    def update(fact: str, key: str) -> str:
        return memtrace.variable(fact, kind="MemoryUnit", name=key)

    @memtrace.operation(kind="Retrieval")
    def search(question: str, notes: list[str]) -> list[str]:
        return notes[-1:] if fault == "search" else notes

    @memtrace.operation(kind="Generation", output="Answer")
    def answer(question: str, facts: list[str]) -> str:
        return words.wrong

    with memtrace.trace("agent", id=f"agent-{fault}"):
        notes: dict[str, str] = {}
        for number, text in enumerate(words.messages):
            message = memtrace.variable(text, kind="Message", name=f"message {number}")
            key = "note 0" if number == 2 and fault == "update" else f"note {number}"
            notes[key] = update(extract(message), key)
        question = memtrace.variable(words.question, kind="Query", name="question")
        memtrace.feedback(answer(question, search(question, list(notes.values()))), gold=words.gold)


async def _case(database: Database, folder: Path, words: Words, name: str, fault: str) -> Case:
    return await judged(lambda: program(words, fault), database.project(name), folder)


@pytest.mark.parametrize("language", sorted(OTHERS))
async def test_the_same_graph_and_verdict(sqlite_database: Database, tmp_path: Path, language: str) -> None:
    for fault, error_type in FAULTS.items():
        english = await _case(sqlite_database, tmp_path, ENGLISH, f"english-{language}-{fault}", fault)
        other = await _case(sqlite_database, tmp_path, OTHERS[language], f"{language}-{fault}", fault)
        assert other.shape() == english.shape()
        for case in (english, other):
            (verdict,) = case.verdicts
            assert (verdict.error_type, case.blamed(verdict)) == (error_type, fault), verdict.reason
            assert verdict.confidence >= 0.8


@pytest.mark.parametrize("language", sorted(OTHERS))
def test_texts_are_found_in_prompts(language: str) -> None:
    handed_out.forget()
    known = KnownTexts()
    given: list[memtrace.identity.Variable] = []
    for fact in OTHERS[language].facts:
        copy = (fact + " ")[:-1]
        variable = memtrace.identity.Variable("v" * 32, "unit", 0, "MemoryUnit", len(given))
        given.append(variable)
        handed_out.remember(Given(copy, "trace", variable))
        known.add(fact, variable)
    prompt = "Known:\n" + "\n".join(f"- {fact}" for fact in OTHERS[language].facts) + f"\n\n{OTHERS[language].question}"
    assert [text.text for text in handed_out.inside(prompt)] == list(OTHERS[language].facts)
    assert known.inside(prompt, frozenset()) == given
    glued = f"已知信息：{OTHERS['chinese'].facts[0]}吗"
    handed_out.remember(Given(OTHERS["chinese"].facts[0], "trace", given[0]))
    assert [text.text for text in handed_out.inside(glued)] == [OTHERS["chinese"].facts[0]]
    handed_out.forget()


@pytest.mark.parametrize(
    ("text", "is_known"), [("喜欢吃夜宵", True), ("茶", False), ("A 喜欢吃夜宵", True), ("Yes", False)]
)
def test_short_texts(text: str, is_known: bool) -> None:
    handed_out.forget()
    variable = memtrace.identity.Variable("v" * 32, "unit", 0, "MemoryUnit", 1)
    handed_out.remember(Given(text, "trace", variable))
    assert bool(handed_out.inside(f"Known: {text}。 The end of the prompt.")) is is_known
    handed_out.forget()

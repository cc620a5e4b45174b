"""What the messages say of a question's premises: the person, the time, and the terms of the answer.

A gold answer is called wrong only on proof: a message that gives the thing to another person, that happened at another
time, or that says later what has changed; or messages that all end before the time in question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from attribution.free_pass import proof_path as proof
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, content, share_found
from attribution.needed.evidence_sentences import SUPPORTED, best_detail
from attribution.needed.exclusion import excludes
from attribution.needed.gold_agreement import denies
from attribution.needed.messages import Messages, is_known
from attribution.needed.presence import Detail
from attribution.text.persons import FIRST_PERSON
from attribution.text.refusals import refuses
from attribution.text.scripts import is_light
from attribution.text.segments import Placed, Sentence
from attribution.text.tokens import Token, tokens
from attribution.text.weekdays import weekdays
from attribution.trace.graph import TraceGraph
from attribution.verdicts.reasons import written
from schema.kinds import ErrorType
from schema.models import Failure

_OWNER = re.compile(r"\b([^\W\d_]+)['’`]s\s+")
_OWN = frozenset({"my", "our", "mein", "meine", "meinen", "meinem", "meiner", "unser", "unsere"})
_LIKELY = 0.9
_FEWEST = 2
"""The minimal number of words in the name of a thing that identify it: anybody may have a sister, or a bowl."""
_PLACE = re.compile(
    r"^\W*(?:in\s+|from\s+|to\s+)?where\b|\b(?:what|which)\s+(?:\w+\s+)?(?:country|city|state|town|village|continent|region"
    r"|place|nation|province|county|island|area|part)\b|^\W*(?:wo|woher|wohin)\b|\bwelche\w*\s+(?:land|stadt|ort)\b",
    re.IGNORECASE,
)
_WHOLLY = 0.9
_ABOUT = 0.4
"""A sentence with at least this share of the question's words is on the same topic; rare words count no more."""
CHANGE = re.compile(
    r"""\b(?:now(?:adays)?|current(?:ly)?|these\s+days|at\s+the\s+moment|by\s+now|no\s+longer|any\s?more|latest|most\s+recent
        |from\s+\w+\s+on(?:wards?)?|as\s+of|t(?:akes?|ook|aken|aking)\s+over|replac(?:es?|ed|ing)
        |in\s+(?:her|his|their|my|your|its)\s+place|chang(?:ed|es)|switched|moved|instead|raised|lowered
        |jetzt|derzeit|aktuell\w*|inzwischen|mittlerweile|neuerdings|nicht\s+mehr|umgezogen|gewechselt
        |maintenant|actuel\w*|désormais|déménagé|changé|ahora|actual\w*|ya\s+no|mudad[oa]|cambi(?:ó|ado|é)
        |agora|atual\w*|adesso|attual\w*|сейчас|теперь|больше\s+не|şimdi|artık
        |postponed|rescheduled|put\s+(?:back|off)|brought\s+forward|(?:a|the|our|my|his|her|their|its)\s+new
        |verschoben|verlegt|geändert|umgebucht|übern(?:immt|ahm|ommen)|ab\s+(?:sofort|dem|nächste\w*|kommende\w*)
        |(?:de[rmns]|die|das|eine?[nmr]?|unser\w*|mein\w*)\s+neue[nmrs]?
        |pass(?:e|ent|é|ée|ons)\s+(?:à|aux?)|repouss\w+|reporté\w*|avancé\w*|décalé\w*|nouve(?:au|l|lle|lles|aux)
        |pospuest\w*|pospuso|aplaza\w*|pasa(?:n|do|ron)?\s+a(?:l|\s+l[ao]s?)?|nuev[oa]s?
        |mud(?:ou|ei|amos|ámos|aram|ad[oa]s?)|adiad[oa]s?|adiou|passa(?:m|ram|do)?\s+(?:para|a[lio]?)|nov[oa]s?|spostat[oaie]|rinviat[oaie]|posticipat[oaie]
        |nuov[oaie]|verzet|verplaatst|uitgesteld|nieuwe?|flytta[dt]\w*|ändra[dt]\w*|byt(?:t|te)|uppskjut\w+|utsatt|endret|flyttet|перенос\w*|перен[её]с\w*|сменил\w*|нов\w{2,3}
        |yeni|ertelen\w*|değiş\w*|alındı
        |teraz|obecnie|już\s+nie|przen(?:ios|oszę)\w*|zmieni\w+|now(?:y|ego|ej|ym)|зараз|тепер|вже\s+не|перен[іо]с\w*
        |зміни\w+|sekarang|kini|tidak\s+lagi|diganti|pindah|numera|nykyään|siirr\w+|siirty\w+|vaihtu\w+)\b
      | 现在|目前|如今|不再|换成|改[成到为]|搬到|推迟|提前|新的
      | 今は|現在|いまは|やはり|やっぱり|もう|変わ|変更|延期|新しい|引っ越
      | 지금|현재|이제|바뀌|변경|연기|옮겼|새로|이사
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words by which a question asks for the present state, or a message tells a change."""
_OTHERS = re.compile(
    r"""\b(?:sister|brother|mother|father|mum|mom|dad|son|daughter|wife|husband|aunt|uncle|cousin|friend|neighbou?r
        |colleague|boss|grand\w+|schwester|bruder|mutter|vater|sohn|tochter|frau|mann|tante|onkel|freund(?:in)?
        |nachbar(?:in)?|kolleg(?:e|in)|s[oœ]eur|frère|mère|père|fils|fille|femme|mari|oncle|ami|amie|voisine?|collègue
        |hermana|hermano|madre|padre|hij[oa]|espos[oa]|tí[oa]|prim[oa]|amig[oa]|vecin[oa]|irmão|irmã|mãe|pai|filh[oa]
        |sorella|fratello|figli[oa]|marito|moglie|zi[oa]|cugin[oa]|amic[oa]|vicin[oa]|zus|broer|moeder|vader|buurman
        |сестр\w+|брат\w*|мам\w+|пап\w+|друг\w*|подруг\w+|сосед\w*)\b
      | 姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|朋友|邻居|同事 | 姉|妹|兄|弟|母|父|友人|友達|隣人
      | 누나|언니|동생|오빠|형|친구|이웃
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Relatives and friends."""


def wrong_person(messages: Messages, failure: Failure, detail: Detail) -> Finding | None:
    """The question gives a thing to one person, and the message with the gold answer to its own speaker.

    The person in the question never mentions such a thing.
    """
    sayer = messages.speakers.get(detail.message_id)
    if sayer is None or not detail.literal:
        return None
    known = set(messages.speakers.values())
    for match in _OWNER.finditer(failure.question):
        owner = match[1].casefold()
        if owner == sayer or owner not in known:
            continue
        thing = tokens(failure.question[match.end() :])
        own = _owned(messages.texts[detail.message_id], thing) or _described(messages, detail.message_id, thing)
        if own and not any(
            _mentions(text, thing) for one, text in messages.texts.items() if messages.speakers.get(one) == owner
        ):
            reason = "the question asks about a thing of one person, which the evidence says to be another's"
            return wrong_gold(detail.message_id, own, reason)
    return None


def corrected_person(messages: Messages, failure: Failure, detail: Detail) -> Finding | None:
    """The answer corrects the question: it denies the person in the question a thing, and names the one who has it.

    The speaker of the message with the gold answer is that person, and neither the person in the question nor anybody
    of that person ever mentions such a thing.
    """
    sayer, said = messages.speakers.get(detail.message_id), failure.prediction or ""
    if sayer is None or not detail.literal or not denies(said):
        return None
    asked_words, said_words = _words(failure.question), _words(said)
    named = {name for name in set(messages.speakers.values()) if _is_named(name, asked_words)}
    if not named or sayer in named or not _is_named(sayer, said_words):
        return None
    thing = set(messages.asked(failure).words) & set(detail.sentence.stems)
    others = [
        text
        for one, text in messages.texts.items()
        if messages.speakers.get(one) in named or any(_is_named(name, _words(text)) for name in named)
    ]
    if not thing or any(thing & {one.stem for one in tokens(text)} for text in others):
        return None
    reason = "the answer says whose thing it is: the question gives it to another person than the evidence does"
    return wrong_gold(detail.message_id, detail.quote, reason)


def outdated(graph: TraceGraph, messages: Messages, failure: Failure, detail: Detail, gold: Content) -> Finding | None:
    """A later message of the same speaker tells the given answer as what holds now: the gold answer is out of date."""
    if not detail.literal:
        return None
    claim = messages.claim(failure, None)
    for message, placed in told_later(graph, messages, failure, detail, gold):
        text = placed.sentence.text
        is_whole = not claim.weight or share_found(claim, placed) >= _WHOLLY
        is_changed = CHANGE.search(text) or CHANGE.search(failure.question) or _is_replaced(gold, claim, placed)
        if is_whole and is_changed:
            reason = "a later message tells what was answered: the gold answer is out of date"
            return wrong_gold(message, text.strip(), reason)
    return None


def told_later(
    graph: TraceGraph, messages: Messages, failure: Failure, detail: Detail, gold: Content
) -> Iterator[tuple[str, Placed]]:
    """The later sentences of the same speaker that tell the given answer on the question's topic, with their messages.

    Such a sentence may correct the sentence with the gold answer, or tell of a similar thing. Of an answer with a
    number or day, the sentence has these; of another answer, its words.

    Args:
        graph: the trace.
        messages: its messages.
        failure: the failure.
        detail: the sentence with the gold answer.
        gold: the content of the gold answer.
    """
    said = failure.prediction or ""
    claim, days = messages.claim(failure, None), weekdays(said)
    if refuses(said) or not (claim.weight or days):
        return
    is_other = excludes(failure, gold, claim)
    value = Content({}, claim.numbers, claim.dates) if claim.numbers or claim.dates else claim
    asked, first, known = messages.asked(failure), messages.dated.get(detail.message_id), is_known(graph, failure)
    speaker = messages.speakers.get(detail.message_id)
    for message in messages.following(detail.message_id, len(messages.ids)):
        day = messages.dated.get(message)
        is_later = first is None or day is None or day >= first
        if not is_later or not known(message) or messages.speakers.get(message) != speaker:
            continue
        for placed in messages.statements(message):
            tells = not value.weight or share_found(value, placed) >= _WHOLLY
            if not tells or not days <= weekdays(placed.sentence.text):
                continue
            if not (is_other or _is_replaced(gold, claim, placed)):
                continue
            if _is_on_topic(asked, detail, placed.sentence, speaker) and not _is_of_another(failure, detail, placed):
                yield message, placed


def _is_replaced(gold: Content, claim: Content, placed: Placed) -> bool:
    """Whether a sentence names the thing of the gold answer, too, and tells a change or denies something.

    ``Ann can't come, so Ben waters the flowers now``: two names of one class are no proof of a change by themselves.
    """
    said = placed.sentence.text
    new = claim.without(gold.words)
    is_told = bool(new.weight) and share_found(new, placed) >= _WHOLLY and share_found(gold, placed) >= SUPPORTED
    return is_told and bool(CHANGE.search(said) or denies(said))


def _is_on_topic(asked: Content, detail: Detail, said: Sentence, speaker: str | None) -> bool:
    """Whether a sentence is about the question. A sentence in the first person counts as naming its speaker.

    Scripts without spaces are cut into pairs of characters, of which inflected words share few. There, the pairs count
    that the question has in common with the evidence.
    """
    common = asked.words.keys() & set(said.stems)
    if common and speaker is not None and FIRST_PERSON.search(said.text):
        common |= asked.words.keys() & {one.stem for one in tokens(speaker)}
    if not any(is_light(one) for one in asked.words):
        return bool(common) and len(common) >= _ABOUT * len(asked.words)
    topic = {one for one in asked.words.keys() & set(detail.sentence.stems) if not is_light(one)}
    return bool(topic) and 2 * len(topic & common) >= len(topic)


def names_relative(text: str, known: str) -> bool:
    """Whether a text names a relative or friend whom the known text does not mention."""
    return bool({one.casefold() for one in _OTHERS.findall(text)} - {one.casefold() for one in _OTHERS.findall(known)})


def _is_of_another(failure: Failure, detail: Detail, placed: Placed) -> bool:
    """Whether a sentence tells of another person or thing than question and evidence do.

    A name that is in the question and in the evidence is missing in the sentence, and another name stands there; or the
    sentence names a relative or friend whom question and evidence don't mention.
    """
    said = placed.sentence
    known = " ".join((failure.question, detail.sentence.text, failure.prediction or ""))
    named = _named(failure.question) & set(detail.sentence.stems) - set(said.stems)
    stems = {one.stem for one in tokens(known)}
    return names_relative(said.text, known) or (bool(named) and not _named(said.text) <= stems)


def _named(text: str) -> set[str]:
    """The stems of the words of a text with a capital letter, without the first word."""
    return {one.stem for one in tokens(text)[1:] if one.carries and text[one.start].isupper()}


def wrong_time(messages: Messages, failure: Failure, detail: Detail) -> Finding | None:
    """The message with the gold answer tells of another time than the question, and the answer names that time."""
    asked = messages.asked(failure).dates
    if not asked or not detail.literal or detail.core.dates or detail.message_id not in messages.dated:
        return None
    happened = [days for one in detail.sentence.dates for days in one.readings(detail.reference)]
    if not happened or any(one.overlap(other) for one in happened for other in asked):
        return None
    said = content(failure.prediction or "", messages.rarity).dates
    if any(one.overlap(other) for one in happened for other in said):
        return wrong_gold(detail.message_id, detail.quote, "the message with the gold answer tells of another time")
    return None


def after_the_end(messages: Messages, failure: Failure, gold: Content) -> Finding | None:
    """The question asks about a time after all messages, none of which tells the gold answer."""
    asked = messages.asked(failure).dates
    if not asked or not messages.dated:
        return None
    last = max(messages.dated, key=lambda one: (messages.dated[one], messages.place[one]))
    if any(days.first <= messages.dated[last] for days in asked):
        return None
    told = best_detail(messages, failure, messages.ids, gold)
    if told is None or told.support >= SUPPORTED:
        return None
    quote = messages.sentences[last][0].sentence.text.strip() if messages.sentences[last] else ""
    day = written(messages.dated[last])
    reason = f"the question asks about a time after the last message, of {day}, and no message tells the gold answer"
    return wrong_gold(last, quote, reason)


def in_other_terms(
    graph: TraceGraph, messages: Messages, failure: Failure, evidence: Sequence[str], detail: Detail
) -> Finding | None:
    """The answer names a place that the evidence names, and no message names the place of the gold answer.

    One place may lie in the other, which is general knowledge: then the answer is at fault, not the gold answer.
    """
    asked = messages.asked(failure)
    said = failure.prediction or ""
    if detail.support >= SUPPORTED or not _PLACE.search(failure.question) or refuses(said):
        return None
    if not all(_is_name(text, asked) for text in (said, *failure.gold_answers)):
        return None
    claim = content(said, messages.rarity).without(asked.words)
    past = graph.past([failure.answer_id or ""])
    for message in evidence:
        for placed in messages.sentences.get(message, ()) if message in past else ():
            if share_found(claim, placed) >= _WHOLLY:
                reason = "the answer names a place of the evidence in other terms than the question asks for"
                reply = graph.reply(failure.answer_id or "")
                prove = partial(proof.of_message_to_answer, graph, failure, message, placed.sentence.text.strip())
                return Finding(ErrorType.RESPONSE, reply.operation_id, _LIKELY, reason, prove, is_local=True)
    return None


def _words(text: str) -> set[str]:
    return {one.word for one in tokens(text)}


def _is_named(name: str, words: set[str]) -> bool:
    """Whether some words have all words of a name."""
    own = _words(name)
    return bool(own) and own <= words


def wrong_gold(message_id: str, quote: str, reason: str) -> Finding:
    """The finding that the gold answer is wrong, proved by a sentence of a message."""
    prove = partial(proof.of_message, message_id, quote)
    return Finding(ErrorType.ANNOTATION, None, _LIKELY, reason, prove, is_local=True)


def _is_name(text: str, asked: Content) -> bool:
    """Whether all words beyond the question are names."""
    beyond = [one for one in tokens(text) if one.carries and one.stem not in asked.words]
    return bool(beyond) and all(text[one.start].isupper() for one in beyond)


def _described(messages: Messages, message_id: str, thing: list[Token]) -> str:
    """The sentence of a message in which the speaker tells of the thing as an own one; empty if there is none."""
    name = _name(thing)
    said = [placed.sentence for placed in messages.sentences[message_id]]
    stems = {stem for one in said for stem in one.stems}
    if len(name) < _FEWEST or not name <= stems or not FIRST_PERSON.search(messages.texts[message_id]):
        return ""
    return max(said, key=lambda one: len(name & set(one.stems))).text.strip()


def _name(thing: list[Token]) -> set[str]:
    """The stems of the thing's name: the words before the first word that carries no meaning."""
    found = set()
    for one in thing:
        if not one.carries:
            break
        found.add(one.stem)
    return found


def _mentions(text: str, thing: list[Token]) -> bool:
    """Whether a text tells of the thing: by its name after "my", or by most of its words."""
    name = _name(thing)
    words = {one.stem for one in tokens(text)}
    return bool(_owned(text, thing)) or (len(name) >= _FEWEST and 2 * len(name & words) > len(name))


def _owned(text: str, thing: list[Token]) -> str:
    """The part of a text with ``my`` and the name of a thing; empty if there is none."""
    words = tokens(text)
    for number, word in enumerate(words):
        if word.word not in _OWN:
            continue
        length = 0
        for one, other in zip(words[number + 1 :], thing, strict=False):
            if one.stem != other.stem or not one.carries:
                break
            length += 1
        if length >= _FEWEST:
            return text[word.start : words[number + length].end]
    return ""

"""Builds a spine from the past of an answer and a verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from attribution.spine.choose import Chosen, Link, choose, losses
from attribution.spine.contract import Node, contract
from attribution.spine.layers import layers
from attribution.spine.model import Box, Edge, EdgeOperation, KindCount, Piece, PieceState, Role, Spine, State
from attribution.verdicts.naming import operation_label, plain, variable_label
from attribution.verdicts.verdict import PieceLoss, Verdict
from schema.models import Attribution, Failure
from store.contract.answers import Closure, OperationDetail

_TEXT = 200
"""The maximal length of the text in a box, in characters."""
_OTHERS = "Others"
_OPERATION = "Operation"


@dataclass(frozen=True, slots=True)
class SpineSources:
    """What is known of a failure before its spine is built.

    Attributes:
        verdict: the stored verdict, as ``attribution`` holds it; None without a verdict.
        past: the backward closure of the answer, the question, the evidence and the paths of the pieces.
        operations: the operations that lost a piece, and the blamed operation, by id.
    """

    failure: Failure
    attribution: Attribution | None
    verdict: Verdict | None
    past: Closure
    operations: Mapping[str, OperationDetail]


def build(told: SpineSources, most: int) -> Spine:
    """The spine of a failure with at most this many boxes."""
    return _Builder(told).spine(most)


@dataclass(slots=True)
class _Joined:
    """The derivations, links and losses between two boxes."""

    operations: list[str] = field(default_factory=list)
    derivations: int = 0
    lost: set[int] = field(default_factory=set)


class _Builder:
    def __init__(self, told: SpineSources) -> None:
        self._told = told
        self._variables = {variable.id: variable for variable in told.past.variables}
        self._operations = {one.id: one for one in told.past.operations}
        self._operations |= {id_: one.operation for id_, one in told.operations.items()}
        self._blamed = told.verdict.operation_id if told.verdict else None
        self._chosen = choose(told.failure, told.verdict, self._variables, told.past.derivations)
        self._blame()
        standing = sorted(
            (id_ for id_ in self._chosen.operations if id_ in self._operations),
            key=lambda id_: self._operations[id_].sequence,
        )
        self._ids = [*self._variables, *standing]
        self._numbers = {id_: number for number, id_ in enumerate(self._ids)}
        self._successors: list[list[int]] = [[] for _ in self._ids]
        for derivation in told.past.derivations:
            self._successors[self._numbers[derivation.source]].append(self._numbers[derivation.target])
        self._links = [link for link in self._chosen.links if self._add(link)]

    def _blame(self) -> None:
        """Put the blamed operation on the spine if no piece's path leads there, as for a person's verdict."""
        chosen, detail = self._chosen, self._told.operations.get(self._blamed or "")
        if detail is None or any(self._maker(id_) == self._blamed for id_ in self._with(chosen, Role.LOSS)):
            return
        made = [one.id for one in detail.generated if one.id in self._variables]
        if made:
            for id_ in made:
                chosen.roles[id_].add(Role.LOSS)
            return
        chosen.operations.add(detail.operation.id)
        chosen.roles[detail.operation.id].add(Role.LOSS)
        for one in [*detail.used, *detail.invalidated]:
            if one.id in self._variables:
                chosen.links.append(Link(one.id, detail.operation.id, detail.operation.id))

    @staticmethod
    def _with(chosen: Chosen, role: Role) -> list[str]:
        return [id_ for id_, roles in chosen.roles.items() if role in roles]

    def _maker(self, id_: str) -> str | None:
        """The operation that made a variable; the operation itself if ``id_`` is an operation's."""
        variable = self._variables.get(id_)
        return id_ if variable is None else variable.operation_id

    def _add(self, link: Link) -> bool:
        """Add an edge for a link, unless its target comes before its source, or one of them is unknown."""
        if link.source not in self._numbers or link.target not in self._numbers:
            return False
        source, target = self._numbers[link.source], self._numbers[link.target]
        seen, waiting = {target}, [target]
        while waiting:
            for after in self._successors[waiting.pop()]:
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        if source in seen:
            return False
        self._successors[source].append(target)
        return True

    def _node(self, id_: str) -> Node:
        roles = self._chosen.roles.get(id_)
        variable = self._variables.get(id_)
        kind = variable.kind.value if variable else _OPERATION
        if not roles:
            return Node(kind)
        states = tuple(sorted(self._chosen.states.get(id_, {}).items()))
        decisive = Role.LOSS in roles and self._blamed is not None and self._maker(id_) == self._blamed
        return Node(kind, frozenset(roles), states, decisive)

    def spine(self, most: int) -> Spine:
        """The boxes in order, and the edges between them."""
        nodes = [self._node(id_) for id_ in self._ids]
        paths = [[self._numbers[id_] for id_ in path] for path in self._chosen.paths]
        boxes = contract(nodes, self._successors, paths, most)
        box_of = {node: number for number, box in enumerate(boxes) for node in box}
        joined = self._joined(box_of)
        following: list[set[int]] = [set() for _ in boxes]
        for source, target in joined:
            following[source].add(target)
        evidence = [number for number, box in enumerate(boxes) if any(Role.EVIDENCE in nodes[one].roles for one in box)]
        layer = layers(following, evidence)
        past = self._past()
        order = sorted(range(len(boxes)), key=lambda number: (layer[number], boxes[number][0]))
        place_of = {number: place for place, number in enumerate(order)}
        edges = [self._edge(place_of[source], place_of[target], one) for (source, target), one in joined.items()]
        return Spine(
            failure_id=self._told.failure.id,
            attribution_id=self._told.attribution.id if self._told.attribution else None,
            boxes=[self._box(boxes[number], nodes, layer[number], past) for number in order],
            edges=sorted(edges, key=lambda edge: (edge.source, edge.target)),
            pieces=[self._piece(loss) for loss in losses(self._told.failure, self._told.verdict)],
            variables=len(self._variables),
        )

    def _joined(self, box_of: Mapping[int, int]) -> dict[tuple[int, int], _Joined]:
        found: dict[tuple[int, int], _Joined] = defaultdict(_Joined)
        lost = self._chosen.lost
        for derivation in self._told.past.derivations:
            ends = box_of[self._numbers[derivation.source]], box_of[self._numbers[derivation.target]]
            if ends[0] != ends[1]:
                one = found[ends]
                one.operations.append(derivation.operation_id)
                one.derivations += 1
                one.lost.update(lost.get((derivation.source, derivation.target), ()))
        for link in self._links:
            ends = box_of[self._numbers[link.source]], box_of[self._numbers[link.target]]
            if ends[0] != ends[1]:
                found[ends].operations.append(link.operation_id)
                found[ends].lost.update(link.lost)
        return found

    def _past(self) -> set[int]:
        """The nodes that the answer was made from, itself included; empty without an answer."""
        answer = self._told.failure.answer_id
        if answer not in self._variables:
            return set()
        sources: dict[str, list[str]] = defaultdict(list)
        for derivation in self._told.past.derivations:
            sources[derivation.target].append(derivation.source)
        reached, waiting = {answer}, [answer]
        while waiting:
            for source in sources[waiting.pop()]:
                if source not in reached:
                    reached.add(source)
                    waiting.append(source)
        return {self._numbers[id_] for id_ in reached}

    def _edge(self, source: int, target: int, joined: _Joined) -> Edge:
        by_name: dict[tuple[str, str], set[str]] = defaultdict(set)
        for id_ in joined.operations:
            operation = self._operations.get(id_)
            if operation is not None:
                by_name[operation_label(operation), operation.kind.value].add(id_)
        operations = [
            EdgeOperation(name=name, kind=kind, count=len(ids), is_decisive=self._blamed in ids)
            for (name, kind), ids in sorted(by_name.items(), key=lambda item: (-len(item[1]), item[0]))
        ]
        return Edge(
            source=source,
            target=target,
            derivations=joined.derivations,
            operations=operations,
            lost=sorted(joined.lost),
        )

    def _box(self, box: Sequence[int], nodes: Sequence[Node], layer: int, past: Collection[int]) -> Box:
        ids = [self._ids[node] for node in box]
        main = [node for node in box if nodes[node].roles]
        states: dict[int, set[State]] = defaultdict(set)
        for node in main:
            for piece, state in nodes[node].states:
                states[piece].add(state)
        kinds = Counter(nodes[node].kind for node in box)
        shown = Counter(nodes[node].kind for node in main or box)
        return Box(
            kind=next(iter(shown)) if len(shown) == 1 else _OTHERS,
            label=self._label(ids, [self._ids[node] for node in main], shown),
            text=self._text(ids),
            count=len(ids),
            kinds=[KindCount(kind=kind, count=count) for kind, count in sorted(kinds.items(), key=_most)],
            variables=[id_ for id_ in ids if id_ in self._variables],
            operations=[id_ for id_ in ids if id_ not in self._variables],
            layer=layer,
            roles=sorted({role for node in main for role in nodes[node].roles}),
            states=[PieceState(piece=piece, state=_strongest(found)) for piece, found in sorted(states.items())],
            is_decisive=any(nodes[node].is_decisive for node in main),
            is_past=any(node in past for node in box),
        )

    def _label(self, ids: Sequence[str], main: Sequence[str], kinds: Mapping[str, int]) -> str:
        if len(ids) == 1:
            return self._named(ids[0])
        if not main and len(kinds) > 1:
            return f"{_OTHERS} × {len(ids)}"
        if len(main) == 1:
            return self._named(main[0])
        first = [kind for kind, _ in sorted(kinds.items(), key=_most)]
        named = ", ".join([*first[:2], *["…"][: len(first) > 2]])
        return f"{named} × {len(main or ids)}"

    def _named(self, id_: str) -> str:
        variable = self._variables.get(id_)
        return operation_label(self._operations[id_]) if variable is None else variable_label(variable)

    def _text(self, ids: Sequence[str]) -> str:
        if len(ids) > 1 or ids[0] not in self._variables:
            return ""
        failure = self._told.failure
        said = {failure.question_id: failure.question, failure.answer_id: failure.prediction}.get(ids[0])
        text = said or self._chosen.quotes.get(ids[0]) or plain(self._variables[ids[0]].preview)
        return " ".join(text.split())[:_TEXT]

    def _piece(self, loss: PieceLoss) -> Piece:
        operation = self._operations.get(loss.operation_id or "")
        return Piece(
            text=loss.piece,
            error_type=loss.error_type,
            operation_id=loss.operation_id,
            operation_name=operation_label(operation) if operation else None,
            confidence=loss.confidence,
            reached=loss.reached,
        )


def _most(item: tuple[str, int]) -> tuple[int, str]:
    """A sort key: the most frequent first."""
    return -item[1], item[0]


def _strongest(states: Collection[State]) -> State:
    """The state of a group: lost if any piece's is, else has, else lacks."""
    return next(state for state in (State.LOST, State.HAS, State.LACKS) if state in states)

"""Access to a model: free replies, structured replies, and embeddings, each within a budget."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import astuple, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from attribution.llm.transport import embedding
from attribution.llm.transport.abilities import Abilities, key_of, packed, unpacked
from attribution.llm.transport.attempts import Answer, Attempts, Request, Sleep
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.cache import Cache, content_hash
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.data import data_block
from attribution.llm.transport.dialect import Dialect, Format, Schema
from attribution.llm.transport.endpoint import Endpoint
from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.reply import Reply, Tokens, read_reply, read_vectors
from attribution.llm.transport.reply_faults import cut_off, told
from attribution.llm.transport.schemas import Rejected, is_object, json_part, problems_of, schema_of
from attribution.llm.transport.settings import LlmSettings
from attribution.llm.transport.text_calls import calls_in
from attribution.verdicts.usage import Usage
from schema.errors import InputError

M = TypeVar("M", bound=BaseModel)
R = TypeVar("R")


class LlmClient:
    """A client of a model; an asynchronous context manager. One client serves a whole run.

    Repeated requests are answered from the cache. They are charged to the budget of the failure as if they were made
    now, but not to the budget of the run, because nothing is paid.
    """

    def __init__(self, settings: LlmSettings, cache: Cache | None = None, sleep: Sleep = asyncio.sleep) -> None:
        """Opens no connection.

        Args:
            settings: the address of the model, and what it may cost.
            cache: keeps replies and embeddings; with None, all of them are requested again.
            sleep: waits between attempts.

        Raises:
            InputError: a key's file can't be read.
        """
        self.settings = settings
        self.cache = cache
        self.run_budget = LlmBudget(settings.run_limits, "run")
        self._abilities = Abilities()
        self._recalling = asyncio.Lock()
        self._is_recalled = False
        self._underestimated = 1.0
        self._models = Endpoint(settings.base_url, settings.key())
        self._attempts = Attempts(settings, sleep)
        self._embeddings, self._embedding_attempts = self._models, self._attempts
        if settings.embedding_base_url is not None:
            self._embeddings = Endpoint(settings.embedding_base_url, settings.embedding_key())
            self._embedding_attempts = Attempts(settings, sleep)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._models.close()
        if self._embeddings is not self._models:
            await self._embeddings.close()

    def case_budget(self) -> LlmBudget:
        """A budget for one failure within the budget of the run; its seconds start now."""
        return LlmBudget(self.settings.case_limits, "case", self.run_budget)

    async def abilities(self) -> Abilities:
        """What is known of the server and the model, from earlier runs too if there is a cache."""
        async with self._recalling:
            if self.cache is not None and not self._is_recalled:
                key = key_of(self.settings.base_url, self.settings.model)
                kept = (await self.cache.get([key])).get(key)
                self._abilities = Abilities() if kept is None else unpacked(kept)
            self._is_recalled = True
        return self._abilities

    async def remember(self, abilities: Abilities) -> None:
        """Keep what was found out about the server and the model, for later runs too if there is a cache."""
        if abilities == await self.abilities():
            return
        self._abilities = abilities
        if self.cache is not None:
            await self.cache.put(key_of(self.settings.base_url, self.settings.model), packed(abilities))

    def estimate(self, conversation: Conversation, extra: Sequence[Any] = (), reply_tokens: int | None = None) -> Usage:
        """The most that the next reply can use.

        Args:
            conversation: the messages so far.
            extra: other parts of the request: tools, a schema.
            reply_tokens: the longest reply; None for the settings' limit.
        """
        factor = self._underestimated
        longest = self._longest(reply_tokens)
        return self.settings.usage(math.ceil(conversation.bound(extra) * factor), math.ceil(longest * factor))

    def _longest(self, reply_tokens: int | None) -> int:
        return self.settings.reply_tokens if reply_tokens is None else min(reply_tokens, self.settings.reply_tokens)

    async def complete(
        self,
        conversation: Conversation,
        budget: LlmBudget,
        tools: Sequence[dict[str, Any]] = (),
        schema: Schema | None = None,
        reply_tokens: int | None = None,
    ) -> Reply:
        """The next reply of the model; the conversation is not changed.

        Args:
            conversation: the messages so far.
            budget: is charged with the call.
            tools: that the model may call.
            schema: the form of the reply.
            reply_tokens: the longest reply, if it is to be shorter than the settings allow.

        Raises:
            BudgetError: the call could exceed the budget, and was not made.
            LlmError: the server gave no answer, the model refused, or its reply is cut off.
        """
        dialect = (await self.abilities()).dialect
        while True:
            try:
                reply = await self._reply(dialect, conversation, budget, tools, schema, self._longest(reply_tokens))
            except LlmError as error:
                weaker = dialect.weaker(str(error), structured=schema is not None)
                if error.kind is not Problem.UNSUPPORTED or weaker is None:
                    raise
                dialect = weaker
                continue
            # Only a dialect that got an answer is kept: a refusal may have been about this request alone.
            await self._weaken(dialect)
            if reply.refusal:
                raise LlmError(Problem.REFUSED, f"the model refused to answer: {reply.refusal[:300]}")
            if (
                reply.cut
                and not reply.calls
                and not calls_in(reply.content, [one["function"]["name"] for one in tools])
            ):
                raise LlmError(Problem.LENGTH, cut_off(reply.content, self._longest(reply_tokens)))
            return reply

    async def structured(
        self,
        conversation: Conversation,
        model: type[M],
        budget: LlmBudget,
        accept: Callable[[M], Awaitable[R]],
    ) -> R:
        """The accepted result of a reply of a given form. After an invalid reply, the model may try again once.

        Args:
            conversation: an invalid reply, and the reason, are added to it.
            model: the form.
            budget: is charged with the calls.
            accept: checks a reply of the right form; raises Rejected if it is invalid.

        Raises:
            BudgetError: a call could exceed the budget, and was not made.
            LlmError: there is no valid reply.
        """
        schema = schema_of(model)
        problems: list[str] = []
        for attempt in range(2):
            reply = await self.complete(conversation, budget, schema=schema)
            try:
                found = json_part(told(reply.content))
                if not is_object(found):
                    await self._weaken(replace(self._abilities.dialect, format=Format.OBJECT))
                return await accept(model.model_validate_json(found))
            except ValidationError as error:
                problems = problems_of(error)
            except Rejected as rejection:
                problems = rejection.problems
            if attempt == 0:
                conversation.add(reply.message())
                conversation.say(f"Your reply can't be used. Correct it and reply again.\n{data_block(problems)}")
        shown = "; ".join(problems)[:500]
        raise LlmError(Problem.INVALID, f"the model's reply is not valid, nor was it after it was told why: {shown}")

    async def embed(self, texts: Sequence[str], budget: LlmBudget | None = None) -> list[list[float]]:
        """A vector for each text; of long texts only the first 8,000 characters are used.

        Args:
            texts: equal texts are sent once; cached texts are not sent.
            budget: is charged with the calls; None charges the run only.

        Raises:
            InputError: no model of embeddings is set.
            BudgetError: a call could exceed the budget, and was not made.
            LlmError: the server gave no usable answer.
        """
        model = self.settings.embedding_model
        if model is None:
            raise InputError("settings of the model", "", "MEMTRACE_LLM_EMBEDDING_MODEL is not set")
        keys = {text: content_hash("embedding", self._embeddings.base_url, model, text) for text in texts}
        kept = await self.cache.get(list(keys.values())) if self.cache else {}
        vectors = {text: embedding.unpack(kept[key]) for text, key in keys.items() if key in kept}
        for batch in embedding.batches([text for text in keys if text not in vectors]):
            for text, vector in zip(batch, await self._embed(model, batch, budget or self.run_budget), strict=True):
                # Cached vectors have single precision, so new ones get single precision, too.
                packed = embedding.pack(vector)
                vectors[text] = embedding.unpack(packed)
                if self.cache:
                    await self.cache.put(keys[text], packed)
        return [vectors[text] for text in texts]

    async def _weaken(self, dialect: Dialect) -> None:
        """Keep what a dialect leaves out. A server that ignores a schema says nothing: then the prompt must hold it."""
        known = await self.abilities()
        await self.remember(replace(known, dialect=known.dialect.merged(dialect)))

    async def _embed(self, model: str, batch: list[str], budget: LlmBudget) -> list[list[float]]:
        body = {"model": model, "input": [embedding.prepared(text) for text in batch], "encoding_format": "float"}
        request = Request(
            send=lambda seconds: self._embeddings.embed(body, seconds),
            estimate=self.settings.embedding_usage(embedding.bound(batch)),
            usage=lambda tokens: self.settings.embedding_usage(tokens.input),
        )
        answer = await self._embedding_attempts.run(request, budget, lambda text: read_vectors(text, len(batch)))
        return answer.found

    async def _reply(
        self,
        dialect: Dialect,
        conversation: Conversation,
        budget: LlmBudget,
        tools: Sequence[dict[str, Any]],
        schema: Schema | None,
        longest: int,
    ) -> Reply:
        settings = self.settings
        body = dialect.body(settings.model, conversation.messages, longest, settings.temperature, tools, schema)
        key = content_hash("reply", settings.base_url, json.dumps(body))
        kept = (await self.cache.get([key])).get(key) if self.cache else None
        if kept is not None:
            reply, total = _kept_reply(kept)
            budget.replay(total)
        else:
            extra = [*tools, schema.schema] if schema else list(tools)
            request = Request(
                send=lambda seconds: self._models.complete(body, seconds),
                estimate=self.estimate(conversation, extra, longest),
                usage=lambda tokens: settings.usage(tokens.input, tokens.output),
            )
            answer = await self._attempts.run(request, budget, _read)
            reply = answer.found
            self._learn(request.estimate, answer.used)
            if self.cache and not reply.refusal and not reply.cut:
                await self.cache.put(key, _kept(answer))
        if reply.tokens is not None:
            conversation.counted(reply.tokens.input)
        return reply

    def _learn(self, estimate: Usage, used: Usage) -> None:
        """Adjust to servers that count more than one token for a byte, or ignore the limit of a reply."""
        factor = max(used.input_tokens / estimate.input_tokens, used.output_tokens / estimate.output_tokens)
        self._underestimated = max(self._underestimated, self._underestimated * factor)


def _read(text: str) -> tuple[Reply, Tokens | None]:
    reply = read_reply(text)
    return reply, reply.tokens


def _kept(answer: Answer[Reply]) -> bytes:
    return json.dumps([answer.body, astuple(answer.total)]).encode()


def _kept_reply(data: bytes) -> tuple[Reply, Usage]:
    body, total = json.loads(data)
    return read_reply(body), Usage(*total)

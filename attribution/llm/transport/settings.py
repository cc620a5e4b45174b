"""The address of a model and what it may cost, from the environment: ``MEMTRACE_LLM_BASE_URL`` and so on."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from attribution.llm.transport.budget import Limits
from attribution.verdicts.usage import Usage
from schema.errors import InputError

PREFIX = "MEMTRACE_LLM_"
_KEY = re.compile(r"[\x21-\x7e]+")
_KEY_BYTES = 64 << 10

Count = Annotated[int, Field(gt=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class LlmSettings(BaseSettings):
    """Settings of the model. The environment variable of each is its name in capitals after ``MEMTRACE_LLM_``.

    Attributes:
        base_url: address of a server that speaks OpenAI's chat completions, such as ``https://host/v1``. There is no
            default: the contents of a memory are sent only to a server that somebody named.
        api_key: the key; left out for a server that needs none.
        api_key_file: a file that contains the key, in place of ``api_key``.
        input_price, output_price: price of a million tokens, in any currency.
        timeout: seconds for one request, from the first byte sent to the last byte received.
        retries: number of further attempts after a failure that may be temporary.
        backoff: seconds before the first of these; they double each time, with jitter. ``Retry-After`` takes
            precedence.
        concurrency: number of requests at a time.
        temperature: 0 gives the most repeatable replies; left out if the server refuses it.
        output_tokens: the longest reply in tokens, including what the model thinks.
        context_tokens: the size of the model's context in tokens, reply included.
        max_tokens, max_calls, max_seconds, max_cost: limits of one case.
        run_max_tokens, run_max_cost: limits of all cases of a run together.
        embedding_model: the model for ``embed``; evidence is then also found by meaning.
        embedding_base_url: address of the server of embeddings, if it is another server. The other server never gets
            ``api_key``.
        embedding_price: price of a million tokens.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    base_url: str
    model: str
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    input_price: Amount | None = None
    output_price: Amount | None = None
    timeout: Seconds = 120.0
    retries: Annotated[int, Field(ge=0, le=100)] = 5
    backoff: Amount = 1.0
    concurrency: Count = 4
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    output_tokens: Count = 4_096
    context_tokens: Count = 128_000
    max_tokens: Count | None = 400_000
    max_calls: Count | None = 40
    max_seconds: Seconds | None = 600.0
    max_cost: Amount | None = None
    run_max_tokens: Count | None = None
    run_max_cost: Amount | None = None
    embedding_model: str | None = None
    embedding_base_url: str | None = None
    embedding_api_key: SecretStr | None = None
    embedding_api_key_file: Path | None = None
    embedding_price: Amount | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in ("base_url", "embedding_base_url"):
            _check_url(name, getattr(self, name))
        for name in ("api_key", "embedding_api_key"):
            if getattr(self, name) is not None and getattr(self, f"{name}_file") is not None:
                raise ValueError(f"{_variable(name)} and {_variable(name + '_file')} are both set: set one of them")
        if self.embedding_base_url is None and (self.embedding_api_key or self.embedding_api_key_file):
            raise ValueError(
                f"{_variable('embedding_api_key')} is for {_variable('embedding_base_url')}, which is unset"
            )
        limited = self.max_cost is not None or self.run_max_cost is not None
        if limited and (self.input_price is None or self.output_price is None):
            raise ValueError(
                f"a limit on cost needs prices: set {_variable('input_price')} and {_variable('output_price')}"
            )
        if limited and self.embedding_model is not None and self.embedding_price is None:
            raise ValueError(f"a limit on cost needs prices: set {_variable('embedding_price')}")
        return self

    @classmethod
    def load(cls, **values: Any) -> Self:
        """The settings from the environment, overridden by ``values``.

        Raises:
            InputError: a setting is missing or invalid; the message names the variable and never shows the value.
        """
        try:
            return cls(**values)
        except ValidationError as error:
            problems = [_explain(item["loc"], item["type"], item["msg"]) for item in error.errors(include_input=False)]
        raise InputError("settings of the model", "", "; ".join(problems))

    def key(self) -> str | None:
        """The key of the model's server; None if not needed.

        Raises:
            InputError: the key's file can't be read or is empty.
        """
        return _key("api_key", self.api_key, self.api_key_file)

    def embedding_key(self) -> str | None:
        """The key of the server of embeddings; None if not needed.

        Raises:
            InputError: the key's file can't be read or is empty.
        """
        if self.embedding_base_url is None:
            return self.key()
        return _key("embedding_api_key", self.embedding_api_key, self.embedding_api_key_file)

    @property
    def case_limits(self) -> Limits:
        """The limits of one failure."""
        return Limits(self.max_tokens, self.max_calls, self.max_seconds, self.max_cost)

    @property
    def run_limits(self) -> Limits:
        """The limits of a run."""
        return Limits(tokens=self.run_max_tokens, cost=self.run_max_cost)

    @property
    def reply_tokens(self) -> int:
        """The longest reply that leaves most of the model's context to the request."""
        return min(self.output_tokens, max(self.context_tokens // 4, 1))

    def usage(self, input_tokens: int, output_tokens: int) -> Usage:
        """The usage and cost of one call with so many tokens."""
        cost = input_tokens * (self.input_price or 0.0) + output_tokens * (self.output_price or 0.0)
        return Usage(input_tokens, output_tokens, 1, cost / 1_000_000)

    def embedding_usage(self, tokens: int) -> Usage:
        """The usage and cost of one call for embeddings with so many tokens."""
        return Usage(tokens, 0, 1, tokens * (self.embedding_price or 0.0) / 1_000_000)


def is_set() -> bool:
    """Whether the environment names a model and its server."""
    return all(os.environ.get(_variable(name)) for name in ("base_url", "model"))


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _check_url(name: str, url: str | None) -> None:
    if url is None:
        return
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{_variable(name)} is no URL: write http://host:port/v1 or https://host/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"{_variable(name)} must hold no user, password or query: a key has a setting of its own")


def _explain(place: tuple[int | str, ...], kind: str, message: str) -> str:
    if not place:
        return message.removeprefix("Value error, ")
    variable = _variable(str(place[0]))
    return f"{variable} is not set" if kind == "missing" else f"{variable}: {message}"


def _key(name: str, key: SecretStr | None, file: Path | None) -> str | None:
    if key is not None:
        return _checked(key.get_secret_value().strip(), _variable(name), "")
    if file is None:
        return None
    variable = _variable(f"{name}_file")
    try:
        with file.open("rb") as stream:
            text = stream.read(_KEY_BYTES).decode("latin-1").strip()
    except OSError as error:
        raise InputError(variable, str(file), f"can't be read: {error.strerror}") from None
    return _checked(text, variable, str(file))


def _checked(key: str, variable: str, place: str) -> str:
    if not _KEY.fullmatch(key):
        raise InputError(variable, place, "must hold one key: ASCII characters without spaces, on one line")
    return key

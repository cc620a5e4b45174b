"""Settings of the server and its workers: from the environment (``MEMTRACE_…``), a TOML file, and the command line.

``api.settings.loading`` reads them: the command line takes precedence over the environment, and the environment over
the file. Secrets, such as the passwords of Neo4j and NATS, may come from files of their own.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from api.settings.credentials import refuse_secrets
from api.settings.store_uri import store_uri
from api.settings.stores import MappedStore, check_stores, check_values
from schema.control import Role
from schema.errors import InputError
from schema.outside_json import JsonError, read_json
from schema.projects import problem_of_name


class Settings(BaseSettings):
    """The settings of a server.

    Attributes:
        store: the store's URI; see ``store.open``.
        values: URI of the values; None for the store's default.
        uploads: URI of uploaded files before their import: ``file:///folder`` or ``s3://bucket/prefix``; None for a
            folder beside the SQLite file, or beside the values. Servers and workers of a team share it.
        neo4j_user, neo4j_password, neo4j_password_file: credentials of a store in Neo4j.
        neo4j_database: database of the Neo4j server; None for the user's home database.
        stores: further stores by name, each with the projects whose traces it holds; see ``api.settings.stores``.
        trusted_proxies: addresses of proxies whose ``X-Forwarded-For`` names the client.
        max_connections: open connections; fewer if the process's limit of open files is lower.
        max_connections_per_address: open connections of an address outside ``trusted_proxies``; None for half of all.
        header_seconds: time for the whole head of a request, from the connection or from the head's first byte.
        idle_seconds: time between two requests of a connection.
        body_seconds: time in which the next KiB of a request's body must come.
        write_seconds: time in which a client must read some part of an answer.
        answers_bytes: bytes of values and reports on the disk that clients are reading; beyond it, requests get a 503.
        shutdown_seconds: time for requests under way when the server is told to stop.
        job_concurrency: jobs that run at a time in this process; 0 leaves them to ``memtrace worker``.
        job_projects: projects whose jobs run here; all by default. A list, or a text with commas.
        job_lease_seconds: length of a job's lease: how long a job waits after its runner is gone.
        job_memory_bytes: memory bound of a job's process; only on Linux.
        nats: broker of events: ``nats://host:port`` or ``tls://host:port``, several with commas for a cluster. None for
            a SQLite file, the journal, which only this server uses.
        nats_user, nats_password, nats_password_file: credentials of NATS.
        nats_replicas: number of a cluster's servers that keep a new stream.
        journal: the journal's path; None for beside the SQLite file, or beside the folder of values.
        queue_bytes: compressed bytes of waiting events; beyond it, events are refused with 503.
        dead_letter_bytes: compressed bytes of a project's dead letters in the journal; beyond it, the oldest go.
        event_concurrency: traces whose events this process writes at a time.
        event_tries: tries of an event that refers to something missing; about an hour by default.
        cors_origins: origins of web pages that may send requests; none by default. A list, or a text with commas.
        max_body_bytes: bytes of a GraphQL request or of a form; other JSON requests have fewer.
        max_events_bytes: bytes of a request of events, packed and unpacked.
        max_traces_bytes: bytes of a request of OpenTelemetry spans, packed and unpacked.
        max_rebuilt_bytes: bytes of a request's rebuilt values (values of which only the new part is sent), and of a
            project's rebuilt values at once.
        rebuilt_bytes_per_second: bytes of a project's rebuilt values in the long run.
        max_upload_bytes: bytes of an uploaded file, packed; None for no limit.
        max_inflated_bytes: bytes of an uploaded file, unpacked.
        max_inflated_ratio: ratio of unpacked to packed bytes of an uploaded file, above 16 MiB.
        rate_limit: limit of a key's requests, such as ``600/minute``.
        request_seconds: time until a request's answer begins; uploads have no such limit.
        explain_seconds: time for working out what was there and was not chosen, while a reader waits.
        graphql_depth, graphql_aliases, graphql_tokens, graphql_cost: bounds of a document.
        graphql_answer_bytes: bytes of an answer in JSON.
        graphql_subscriptions: subscriptions of one websocket at a time.
        graphiql: whether ``/graphql`` shows the explorer to browsers; the page needs no key.
        introspection: whether clients may ask for the schema.
        trusted_documents: a JSON file of documents by their SHA-256; ``trusted_documents_only`` refuses all others.
        oidc_issuer, oidc_audience: issuer and audience of accepted bearer tokens; None accepts no tokens.
        oidc_client_id: our client at the issuer, for signing in browsers; ID tokens for this client are accepted too.
        oidc_client_secret, oidc_client_secret_file: secret of our client; None for a public client.
        oidc_scopes: requested scopes of a sign-in, separated by spaces, with ``openid``.
        public_url: address of the server for browsers, without a path; a sign-in leads back to it.
        oidc_groups_claim: the claim with a token's groups.
        oidc_person_claim: the claim with the author of verdicts.
        oidc_grants: for each group, ``{project: role}``.
        otlp_endpoint: endpoint of the server's own traces (OTLP over HTTP); None sends no traces.
    """

    # Built at the first use, because load_settings makes and uses a subclass.
    model_config = SettingsConfigDict(
        env_prefix="MEMTRACE_", extra="ignore", frozen=True, env_ignore_empty=True, defer_build=True
    )

    store: str = "sqlite:///memtrace.db"
    values: str | None = None
    uploads: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr | None = None
    neo4j_password_file: str | None = None
    neo4j_database: Annotated[str, Field(min_length=1)] | None = None
    stores: Annotated[dict[str, MappedStore], NoDecode] = {}
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = ()
    max_connections: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    max_connections_per_address: Annotated[int, Field(ge=1)] | None = None
    header_seconds: Annotated[float, Field(ge=0.5, le=600)] = 10.0
    idle_seconds: Annotated[int, Field(ge=1, le=3600)] = 75
    body_seconds: Annotated[float, Field(ge=0.5, le=3600)] = 30.0
    write_seconds: Annotated[float, Field(ge=0.5, le=3600)] = 60.0
    answers_bytes: Annotated[int, Field(ge=1 << 20)] = 8 << 30
    shutdown_seconds: Annotated[int, Field(ge=1, le=3600)] = 20
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    job_concurrency: Annotated[int, Field(ge=0, le=64)] = 2
    job_projects: Annotated[tuple[str, ...], NoDecode] = ()
    job_lease_seconds: Annotated[float, Field(gt=0.5, le=3600)] = 30.0
    job_memory_bytes: Annotated[int, Field(ge=256 << 20)] = 1 << 30
    nats: str | None = None
    nats_user: str | None = None
    nats_password: SecretStr | None = None
    nats_password_file: str | None = None
    nats_replicas: Annotated[int, Field(ge=1, le=5)] = 1
    journal: str | None = None
    queue_bytes: Annotated[int, Field(ge=1 << 16)] = 4 << 30
    dead_letter_bytes: Annotated[int, Field(ge=1 << 16)] = 64 << 20
    event_concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    event_tries: Annotated[int, Field(ge=1, le=100)] = 20
    cors_origins: Annotated[tuple[str, ...], NoDecode] = ()
    max_body_bytes: Annotated[int, Field(ge=1024)] = 1 << 20
    max_events_bytes: Annotated[int, Field(ge=1024)] = 32 << 20
    max_traces_bytes: Annotated[int, Field(ge=1024)] = 64 << 20
    max_rebuilt_bytes: Annotated[int, Field(ge=64 << 20)] = 256 << 20
    rebuilt_bytes_per_second: Annotated[int, Field(ge=1 << 20)] = 32 << 20
    max_upload_bytes: Annotated[int, Field(ge=1024)] | None = None
    max_inflated_bytes: Annotated[int, Field(ge=1024)] = 4 << 30
    max_inflated_ratio: Annotated[int, Field(ge=1)] = 1000
    rate_limit: str = "1200/minute"
    request_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    explain_seconds: Annotated[float, Field(gt=0, le=600)] = 20.0
    graphql_depth: Annotated[int, Field(ge=1, le=100)] = 15
    graphql_aliases: Annotated[int, Field(ge=0, le=1000)] = 30
    graphql_tokens: Annotated[int, Field(ge=10, le=100_000)] = 2000
    graphql_cost: Annotated[int, Field(ge=1)] = 100_000
    graphql_answer_bytes: Annotated[int, Field(ge=1 << 16)] = 16 << 20
    graphql_subscriptions: Annotated[int, Field(ge=1, le=1000)] = 20
    graphiql: bool = False
    introspection: bool = True
    trusted_documents: str | None = None
    trusted_documents_only: bool = False
    oidc_issuer: str | None = None
    oidc_audience: str | None = None
    oidc_client_id: Annotated[str, Field(min_length=1)] | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_client_secret_file: str | None = None
    oidc_scopes: str = "openid profile"
    public_url: str | None = None
    oidc_groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    oidc_person_claim: Annotated[str, Field(min_length=1)] = "sub"
    oidc_grants: Annotated[dict[str, dict[str, Role]], NoDecode] = {}
    otlp_endpoint: str | None = None

    @field_validator("store")
    @classmethod
    def _is_uri(cls, value: str) -> str:
        return store_uri(value)

    @field_validator("cors_origins", "trusted_proxies", "job_projects", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("oidc_grants", "stores", mode="before")
    @classmethod
    def _parse(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return read_json(value)
        except JsonError:
            raise ValueError(f"this is not JSON; write {_FORMS[info.field_name or '']}") from None

    @field_validator("stores")
    @classmethod
    def _are_stores(cls, value: dict[str, MappedStore]) -> dict[str, MappedStore]:
        check_stores(value)
        return value

    @field_validator("job_projects", "oidc_grants")
    @classmethod
    def _name_projects(cls, value: Any) -> Any:
        grants = value.values() if isinstance(value, dict) else [value]
        for name in (name for named in grants for name in named):
            if problem := problem_of_name(name):
                raise ValueError(problem)
        return value

    @field_validator("store", "values", "uploads", "otlp_endpoint", "oidc_issuer", "public_url")
    @classmethod
    def _without_secrets(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                refuse_secrets("", value)
            except InputError as error:
                raise ValueError(error.problem) from None
        return value

    @field_validator("nats")
    @classmethod
    def _are_servers(cls, value: str | None) -> str | None:
        for server in value.split(",") if value else ():
            if not server.strip().startswith(("nats://", "tls://")):
                raise ValueError("write addresses such as nats://host:4222, with commas between them")
            if "@" in server:
                raise ValueError("write addresses without user and password: those are settings of their own")
        return value

    @field_validator("oidc_issuer", "otlp_endpoint", "public_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("https://", "http://")):
            raise ValueError("write an address that begins with https://")
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _is_safe(cls, value: str | None) -> str | None:
        if value is not None and not is_safe_issuer(value):
            raise ValueError("an issuer needs https:// unless it runs on this machine")
        return value

    @field_validator("public_url")
    @classmethod
    def _is_origin(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if value.rstrip("/").count("/") != 2 or not is_safe_issuer(value):
            raise ValueError("write an address without a path, such as https://memtrace.example.com")
        return value.rstrip("/")

    @field_validator("oidc_scopes")
    @classmethod
    def _are_scopes(cls, value: str) -> str:
        if "openid" not in value.split():
            raise ValueError("openid must be among the scopes: without it the issuer says nothing of who signs in")
        return value

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            if not origin.startswith(("https://", "http://")) or origin.count("/") != 2 or "*" in origin:
                raise ValueError(f"{origin!r} is not an origin such as https://tools.example.com")
        return value

    @field_validator("rate_limit")
    @classmethod
    def _is_rate(cls, value: str) -> str:
        count, _, unit = value.partition("/")
        if not (count.isascii() and count.isdigit() and int(count) > 0) or unit not in _UNITS:
            raise ValueError(f"write a count and one of {', '.join(_UNITS)}, such as 600/minute")
        return value

    @model_validator(mode="after")
    def _values_are_apart(self) -> Settings:
        check_values(self.values, self.stores)
        return self

    @model_validator(mode="after")
    def _oidc_is_whole(self) -> Settings:
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError("oidc_issuer needs oidc_audience too: without it, tokens for others would be taken")
        if self.oidc_client_id and not (self.oidc_issuer and self.public_url):
            raise ValueError("oidc_client_id needs oidc_issuer and public_url too: a sign-in goes there and back")
        if self.trusted_documents_only and not self.trusted_documents:
            raise ValueError("trusted_documents_only needs trusted_documents too: else nothing could be asked")
        return self


_UNITS = ("second", "minute", "hour", "day")
_FORMS = {"oidc_grants": "{group: {project: role}}", "stores": '{name: {"uri": ..., "projects": [...]}}'}


def is_safe_issuer(address: str) -> bool:
    """Whether nobody can answer in place of an address: the address uses TLS or is on this machine."""
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1", "::1"})

"""Operations and variables as objects of py2neo, which reads related objects on first access."""

from __future__ import annotations

from py2neo.ogm import Model, Property, RelatedFrom, RelatedTo


class Variable(Model):  # type: ignore[misc]
    """A variable node; the attributes have the names of the node's properties and relationships."""

    __primarykey__ = "id"

    id = Property()
    projectId = Property()  # noqa: N815
    traceId = Property()  # noqa: N815
    externalId = Property()  # noqa: N815
    name = Property()
    className = Property()  # noqa: N815
    version = Property()
    occurrence = Property()
    kind = Property()
    category = Property()
    comment = Property()
    preview = Property()
    value = Property()
    valueHash = Property()  # noqa: N815
    size = Property()
    sequence = Property()
    right = Property()

    sources = RelatedTo("Variable", "DERIVED_FROM")
    targets = RelatedFrom("Variable", "DERIVED_FROM")
    made_by = RelatedTo("Operation", "GENERATED_BY")
    used_by = RelatedFrom("Operation", "USED")
    ended_by = RelatedTo("Operation", "INVALIDATED_BY")
    version_before = RelatedTo("Variable", "REVISION_OF")
    version_after = RelatedFrom("Variable", "REVISION_OF")


class Operation(Model):  # type: ignore[misc]
    """An operation node; the attributes have the names of the node's properties and relationships."""

    __primarykey__ = "id"

    id = Property()
    projectId = Property()  # noqa: N815
    traceId = Property()  # noqa: N815
    externalId = Property()  # noqa: N815
    name = Property()
    kind = Property()
    category = Property()
    comment = Property()
    status = Property()
    sequence = Property()
    location = Property()

    used = RelatedTo("Variable", "USED")
    made = RelatedFrom("Variable", "GENERATED_BY")
    ended = RelatedFrom("Variable", "INVALIDATED_BY")

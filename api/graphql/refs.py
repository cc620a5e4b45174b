"""References to types by name, because the types refer to each other in circles.

Resolvers return domain models, and the schema reads its fields from the models: nothing is copied. For the type checker
a reference is therefore the model; for the schema it is the GraphQL type in the named module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry

if TYPE_CHECKING:
    from schema.annotation import AnnotationQueue as AnnotationQueueRef
    from schema.annotation import Assignment as AssignmentRef
    from schema.annotation import VerdictChange as VerdictChangeRef
    from schema.control import ApiKey as ApiKeyRef
    from schema.control import AuditEntry as AuditEntryRef
    from schema.control import Job as JobRef
    from schema.models import Attribution as AttributionRef
    from schema.models import Derivation as DerivationRef
    from schema.models import Failure as FailureRef
    from schema.models import Operation as OperationRef
    from schema.models import Session as SessionRef
    from schema.models import Trace as TraceRef
    from schema.models import Variable as VariableRef
    from store.contract.answers import Closure as LineageRef
    from store.contract.answers import Path as PathRef
    from store.contract.answers import SearchHit as SearchHitRef
else:
    AnnotationQueueRef = Annotated["AnnotationQueue", strawberry.lazy("api.graphql.annotation")]
    AssignmentRef = Annotated["Assignment", strawberry.lazy("api.graphql.annotation")]
    ApiKeyRef = Annotated["ApiKey", strawberry.lazy("api.graphql.keys")]
    AuditEntryRef = Annotated["AuditEntry", strawberry.lazy("api.graphql.keys")]
    JobRef = Annotated["Job", strawberry.lazy("api.graphql.job")]
    AttributionRef = Annotated["Attribution", strawberry.lazy("api.graphql.attribution")]
    DerivationRef = Annotated["Derivation", strawberry.lazy("api.graphql.derivation")]
    FailureRef = Annotated["Failure", strawberry.lazy("api.graphql.failure")]
    OperationRef = Annotated["Operation", strawberry.lazy("api.graphql.operation")]
    SessionRef = Annotated["Session", strawberry.lazy("api.graphql.trace")]
    TraceRef = Annotated["Trace", strawberry.lazy("api.graphql.trace")]
    VariableRef = Annotated["Variable", strawberry.lazy("api.graphql.variable")]
    LineageRef = Annotated["Lineage", strawberry.lazy("api.graphql.lineage")]
    PathRef = Annotated["Path", strawberry.lazy("api.graphql.lineage")]
    SearchHitRef = Annotated["SearchHit", strawberry.lazy("api.graphql.search")]
    VerdictChangeRef = Annotated["VerdictChange", strawberry.lazy("api.graphql.history")]

__all__ = [
    "AnnotationQueueRef",
    "ApiKeyRef",
    "AssignmentRef",
    "AttributionRef",
    "AuditEntryRef",
    "DerivationRef",
    "FailureRef",
    "JobRef",
    "LineageRef",
    "OperationRef",
    "PathRef",
    "SearchHitRef",
    "SessionRef",
    "TraceRef",
    "VariableRef",
    "VerdictChangeRef",
]

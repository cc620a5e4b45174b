"""Hits of a search."""

import strawberry

from api.graphql.node import is_model
from api.graphql.refs import VariableRef
from store.contract import answers


@strawberry.type(description="A variable that holds the words you searched for.")
class SearchHit:
    """The fields of ``store.contract.answers.SearchHit``."""

    is_type_of = is_model(answers.SearchHit)

    variable: VariableRef = strawberry.field(description="The variable.")
    score: float = strawberry.field(
        description="How good the match is: higher is better. Scores from SQLite and from Neo4j can't be compared."
    )
    snippet: str = strawberry.field(description="The words that were found, with the text around them.")

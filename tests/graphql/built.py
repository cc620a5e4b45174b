"""The schema of GraphQL, built once for all tests of a process."""

from api.graphql.schema import make_schema

SCHEMA = make_schema()

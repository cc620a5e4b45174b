"""GraphQL, as clients see it."""

"""The GraphQL door, as its clients see it."""

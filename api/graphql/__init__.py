"""The GraphQL door: a file per type, and around them loaders, limits, errors and the router."""

"""The doors: GraphQL, HTTP, command line and web pages."""

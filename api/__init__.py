"""The interfaces: GraphQL, HTTP, command line and web pages."""

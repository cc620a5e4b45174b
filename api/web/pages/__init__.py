"""Pages for people: made on the server, each from one GraphQL document; their whole state is their address."""

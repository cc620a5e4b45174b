"""Web pages for people. The server renders each page from one GraphQL document; the address holds all of its state."""

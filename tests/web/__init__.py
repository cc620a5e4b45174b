"""Web pages, as browsers and their users see them."""

"""Web pages, served with all that they need by the process that answers them."""

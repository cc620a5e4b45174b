"""What one client can cost all others: hostile requests to each door of one server, while others ask for `/healthz`."""

"""The delay and memory that a hostile client costs: hostile requests to each door of a server, beside `/healthz`."""

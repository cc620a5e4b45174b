"""Tests against a running server."""

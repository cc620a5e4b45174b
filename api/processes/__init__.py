"""Processes beside the server: starting them, talking with them, and bounding their memory."""

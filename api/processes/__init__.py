"""Processes beside the server: starting children, talking with children, and bounding memory."""

"""Tests of the server, against one that runs."""

"""Tests of ``why-not``: what a retrieval could have returned and did not."""

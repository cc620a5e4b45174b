"""Tests of optimization: harness, replay, proofs, gate, loop."""

"""Fixtures of the tests of proofs."""

from tests.examples.conftest import recorded
from tests.optimization.faults import replay_folder

__all__ = ["recorded", "replay_folder"]

"""What the tests of proofs share."""

from tests.examples.conftest import recorded
from tests.optimization.faults import replay_folder

__all__ = ["recorded", "replay_folder"]

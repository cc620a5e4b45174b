"""Run it: ``python -m examples.buffer_agent [--fault NAME]``."""

from examples.shared.show import main

from .agent import run
from .conversation import FAULTS

if __name__ == "__main__":
    main("examples.buffer_agent", run, FAULTS)

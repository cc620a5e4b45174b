"""Run it: ``python -m examples.facts_agent [--fault NAME]``."""

from examples.shared.show import main

from .agent import run
from .conversation import FAULTS

if __name__ == "__main__":
    main("examples.facts_agent", run, FAULTS)

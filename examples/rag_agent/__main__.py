"""Run it: ``python -m examples.rag_agent [--fault NAME]``."""

from examples.shared.show import main

from .agent import run
from .conversation import FAULTS

if __name__ == "__main__":
    main("examples.rag_agent", run, FAULTS)

"""``python -m memtrace.program MODULE:NAME``: runs a program under the control of another process."""

from memtrace.program.serve import main

if __name__ == "__main__":
    main()

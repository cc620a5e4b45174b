"""``python -m memtrace.program MODULE:NAME``: runs a program for another process, which says what to do."""

from memtrace.program.serve import main

if __name__ == "__main__":
    main()

"""``python -m memtrace.replay``: runs recorded programs again, for another process that asks for it."""

from memtrace.replay.child import main

if __name__ == "__main__":
    main()

"""``python -m memtrace.replay``: runs recorded programs again, as another process requests."""

from memtrace.replay.child import main

if __name__ == "__main__":
    main()

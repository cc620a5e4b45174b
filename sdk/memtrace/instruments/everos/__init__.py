"""Records the clients of EverMind's memory: ``evermemos``, ``everos`` and ``everos-cloud``."""

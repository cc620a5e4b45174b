"""What an application imports to record its memory system. It knows nothing of the platform that keeps the traces."""

__version__ = "0.1.0"

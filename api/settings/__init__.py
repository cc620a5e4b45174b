"""Settings of a server or worker, and opening the stores and queues that the settings name."""

from api.settings.model import Settings, is_safe_issuer

__all__ = ["Settings", "is_safe_issuer"]

"""Settings of a server or worker, and opening the stores and queues that the settings name.

The model needs Pydantic, so it is only imported when somebody asks for it: most commands work without the settings.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.settings.model import Settings, is_safe_issuer

__all__ = ["Settings", "is_safe_issuer"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from api.settings import model

    return getattr(model, name)

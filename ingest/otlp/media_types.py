"""The media types of OTLP over HTTP, apart from what reads them: that takes long to load."""

from __future__ import annotations

PROTOBUF = "application/x-protobuf"
JSON = "application/json"

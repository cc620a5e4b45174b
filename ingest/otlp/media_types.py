"""The media types of OTLP over HTTP, in a module of their own because ``decoding`` takes long to load."""

from __future__ import annotations

PROTOBUF = "application/x-protobuf"
JSON = "application/json"

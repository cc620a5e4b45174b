"""Exports traces in formats of other tools: OTLP, W3C PROV, OpenLineage."""

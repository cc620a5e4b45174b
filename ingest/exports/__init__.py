"""Traces in the formats of others: OTLP, W3C PROV, OpenLineage."""

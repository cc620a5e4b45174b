"""The HTTP door beside GraphQL: files in and out, values, reports, health and metrics."""

"""HTTP beside GraphQL: events and files in, exports, values, reports, health and metrics."""

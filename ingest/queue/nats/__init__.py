"""Events by way of NATS JetStream."""

"""The queue of events in NATS JetStream."""

"""OpenTelemetry: spans become the wire events of the recorder, and what several spans say together becomes edges."""

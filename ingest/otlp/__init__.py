"""OpenTelemetry: turns spans into the recorder's wire events, and finds edges between variables of different spans."""

"""How traces get in: files, OpenTelemetry, and the recorder's events through a queue; and out, in others' formats."""

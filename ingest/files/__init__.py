"""Files of traces: the formats, and how files are imported and exported."""

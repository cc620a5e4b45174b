"""Wire events as lines of JSON: what the recorder's ``FileExporter`` writes."""

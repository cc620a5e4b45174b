"""Wire events as lines of JSON, as the recorder's ``FileExporter`` writes them."""

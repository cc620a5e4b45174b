"""Programs that are ready to be run: a long-context buffer, anything behind HTTP, and usual memory packages."""

"""Ready-made programs: a long-context buffer, any system behind HTTP, and common memory packages."""

"""Work that outlives a request: imports, attributions and reports, as jobs that survive a restart."""

"""What the process does for all that runs in it: private files, garbage collection, and time for other threads."""

"""Settings of the process and the machine: private files, garbage collection, and fair shares of the processor."""

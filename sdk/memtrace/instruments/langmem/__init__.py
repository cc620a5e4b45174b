"""Records langmem: its managers of memory, which let a model decide what is inserted, changed and removed."""

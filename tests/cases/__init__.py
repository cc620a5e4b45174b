"""Small programs of the kinds that people run, and what must be said of their wrong answers."""

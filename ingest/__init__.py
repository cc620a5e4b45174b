"""How traces are stored: from files, from events, and through the queue."""

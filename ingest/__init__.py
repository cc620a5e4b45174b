"""How traces get in: by files, by events, through the queue."""

SELECT packets, bytes FROM amount

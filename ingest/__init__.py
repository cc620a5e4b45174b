"""How traces get in."""

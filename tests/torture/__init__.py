"""Everything that can be killed is killed, under load."""

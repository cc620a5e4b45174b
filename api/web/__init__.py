"""The web pages and everything that browsers load with them, served by the same process."""

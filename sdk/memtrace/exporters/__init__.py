"""Where events go: to the platform, to a file, or into memory."""

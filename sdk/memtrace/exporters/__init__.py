"""Where events go: the platform, a file, or memory."""

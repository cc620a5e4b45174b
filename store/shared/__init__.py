"""Code of both engines, which makes their answers equal."""

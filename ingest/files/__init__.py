"""Imports and exports traces as files, one folder per format."""

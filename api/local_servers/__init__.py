"""Local servers and commands: processes, ports and private files."""

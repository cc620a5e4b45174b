"""What both engines share, so that both give the same answer."""

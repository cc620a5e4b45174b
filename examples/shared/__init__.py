"""What the three recorded agents share: conversations, the rules that stand for a model, and the command line."""

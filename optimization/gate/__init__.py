"""The gate: whether changed prompts are better than the old ones, and harm nothing that was right."""

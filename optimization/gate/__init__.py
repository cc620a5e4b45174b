"""The gate: decides whether changed prompts improve answers without harming right ones."""

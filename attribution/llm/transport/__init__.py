"""Access to a language model: requests to any compatible server, within budgets, and replies in a given form."""

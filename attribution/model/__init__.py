"""The way to a language model: requests to any compatible server, inside budgets, and replies in a given form."""

"""Annotating failures as a team: queues, cases, progress, disagreement."""

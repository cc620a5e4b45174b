"""The loop from verdicts to better prompts: search, gate, acceptance, rollback."""

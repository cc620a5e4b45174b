"""Records the calls of OpenAI's client: chat, responses, completions and embeddings."""

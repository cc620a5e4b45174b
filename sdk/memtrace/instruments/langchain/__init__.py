"""Records LangChain: retrievers, vector stores, rerankers, prompts, models and tools."""

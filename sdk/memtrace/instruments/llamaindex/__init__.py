"""Records LlamaIndex: what is put into indexes, retrieved, reranked, and what its models read and reply."""

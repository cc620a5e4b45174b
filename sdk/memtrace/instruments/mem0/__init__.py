"""Records mem0's open-source memory, synchronous or asynchronous, with any vector store and model."""

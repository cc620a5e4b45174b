"""What the instruments of LangChain, LangGraph, langmem and LlamaIndex share: runs, messages, and known values."""

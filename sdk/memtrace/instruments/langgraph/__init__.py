"""Records LangGraph: its stores of long-term memory. Graphs and their nodes are recorded as LangChain's runs."""

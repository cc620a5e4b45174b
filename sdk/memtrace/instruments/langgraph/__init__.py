"""Records LangGraph's stores of long-term memory. The instrument ``langchain`` records graphs and nodes."""

"""Graph files of smartcomment and MemTraceBench: reads them, repairs them into an exact causal graph, writes them."""

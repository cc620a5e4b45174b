"""Graph files of smartcomment (and of MemTraceBench): read, repaired into an exact causal graph, and written back."""

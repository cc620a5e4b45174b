SELECT pack.data FROM pack JOIN trace AS t ON t.k = pack.trace_k WHERE pack.k = :pack AND t.project = :project

SELECT pack.k, lower(hex(pack.id)), value.pack_offset, value.size
FROM trace AS t JOIN value ON value.trace_k = t.k JOIN pack ON pack.k = value.pack_k
WHERE t.project = :project AND t.id = unhex(:trace) AND value.hash = unhex(:hash)
LIMIT 1

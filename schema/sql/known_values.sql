SELECT lower(hex(value.hash)) FROM trace AS t JOIN value ON value.trace_k = t.k
WHERE t.project = :project AND t.id = unhex(:trace) AND value.pack_k IS NOT NULL

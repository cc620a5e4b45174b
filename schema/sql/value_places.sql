SELECT lower(hex(value.hash)), pack.k, lower(hex(pack.id)), value.pack_offset, value.size
FROM json_each(:hashes) AS wanted CROSS JOIN trace AS t
     CROSS JOIN value ON value.trace_k = t.k AND value.hash = unhex(wanted.value) CROSS JOIN pack ON pack.k = value.pack_k
WHERE t.project = :project AND t.id = unhex(:trace)
ORDER BY pack.k, value.pack_offset

SELECT value.k, lower(hex(value.hash)), value.pack_offset, value.size FROM value
WHERE value.trace_k = (SELECT trace_k FROM pack WHERE k = :pack) AND value.pack_k = :pack
ORDER BY value.pack_offset

SELECT pack_k, pack_offset FROM value WHERE trace_k = ? AND hash = ? AND pack_k IS NOT NULL LIMIT 1

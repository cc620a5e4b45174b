-- name: find
SELECT k FROM value WHERE trace_k = ? AND hash = ? AND media_type = ?

-- name: find_place
SELECT pack_k, pack_offset FROM value WHERE trace_k = ? AND hash = ? AND pack_k IS NOT NULL LIMIT 1

-- name: hashes
SELECT lower(hex(value.hash)) FROM trace AS t JOIN value ON value.trace_k = t.k
WHERE t.project = :project AND t.id = unhex(:trace) AND value.pack_k IS NOT NULL

-- name: by_hash
SELECT value.k FROM value
WHERE value.trace_k = (SELECT k FROM trace WHERE id = unhex(:trace) AND project = :project) AND value.hash = unhex(:hash)

-- name: places
SELECT lower(hex(value.hash)), pack.k, lower(hex(pack.id)), value.pack_offset, value.size
FROM json_each(:hashes) AS wanted CROSS JOIN trace AS t
     CROSS JOIN value ON value.trace_k = t.k AND value.hash = unhex(wanted.value) CROSS JOIN pack ON pack.k = value.pack_k
WHERE t.project = :project AND t.id = unhex(:trace)
ORDER BY pack.k, value.pack_offset

-- name: pack
SELECT pack.data FROM pack JOIN trace AS t ON t.k = pack.trace_k WHERE pack.k = :pack AND t.project = :project

-- name: in_pack
SELECT value.k, lower(hex(value.hash)), value.pack_offset, value.size FROM value
WHERE value.trace_k = (SELECT trace_k FROM pack WHERE k = :pack) AND value.pack_k = :pack
ORDER BY value.pack_offset

-- name: inline
SELECT value.k, value.text, value.size FROM value JOIN trace AS t ON t.k = value.trace_k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace)) AND value.size <= :whole AND value.k > :last
ORDER BY value.k
LIMIT 1000

-- name: packs
SELECT pack.k, pack.raw_size FROM pack JOIN trace AS t ON t.k = pack.trace_k
WHERE t.project = :project AND (:trace IS NULL OR t.id = unhex(:trace))
ORDER BY pack.k

-- name: variables
SELECT v.k FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.value_k = wanted.value
     CROSS JOIN trace AS t ON t.k = v.trace_k
WHERE t.project = :project AND v.occurrence = 0

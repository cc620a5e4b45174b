SELECT wanted.value, d.k
FROM carray(:keys) AS wanted CROSS JOIN derivation AS d ON d.k IN (
    SELECT x.k FROM derivation AS x WHERE x.source_k = wanted.value ORDER BY x.sequence, x.k LIMIT :count
)
ORDER BY d.sequence, d.k

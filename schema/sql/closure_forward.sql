WITH RECURSIVE future (k) AS (
    SELECT value FROM carray(:roots)
    UNION
    SELECT d.target_k FROM future CROSS JOIN derivation AS d ON d.source_k = future.k
)
SELECT k FROM future

WITH RECURSIVE past (k) AS (
    SELECT k FROM variable WHERE id = unhex(:id)
    UNION
    SELECT d.source_k FROM past CROSS JOIN derivation AS d ON d.target_k = past.k
)
SELECT v.id FROM past CROSS JOIN variable AS v ON v.k = past.k

-- The causal past. UNION, not UNION ALL: a variable reached by two ways is walked once.
WITH RECURSIVE past (k) AS (
    SELECT value FROM carray(:roots)
    UNION
    SELECT d.source_k FROM past CROSS JOIN derivation AS d ON d.target_k = past.k
)
SELECT k FROM past

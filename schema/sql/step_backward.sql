SELECT d.target_k, d.source_k, v.sequence
FROM carray(:keys) AS here CROSS JOIN derivation AS d ON d.target_k = here.value CROSS JOIN variable AS v ON v.k = d.source_k

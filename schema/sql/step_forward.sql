SELECT d.source_k, d.target_k, v.sequence
FROM carray(:keys) AS here CROSS JOIN derivation AS d ON d.source_k = here.value CROSS JOIN variable AS v ON v.k = d.target_k

SELECT d.k, d.source_k, d.target_k
FROM carray(:keys) AS here CROSS JOIN derivation AS d ON d.target_k = here.value

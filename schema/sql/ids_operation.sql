SELECT x.k, x.id FROM carray(:keys) AS wanted CROSS JOIN operation AS x ON x.k = wanted.value

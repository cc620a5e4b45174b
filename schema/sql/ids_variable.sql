SELECT x.k, x.id FROM carray(:keys) AS wanted CROSS JOIN variable AS x ON x.k = wanted.value

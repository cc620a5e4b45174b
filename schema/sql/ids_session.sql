SELECT x.k, x.id FROM carray(:keys) AS wanted CROSS JOIN session AS x ON x.k = wanted.value

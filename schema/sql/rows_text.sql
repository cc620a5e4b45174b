SELECT text.k, text.text FROM carray(:keys) AS wanted CROSS JOIN text ON text.k = wanted.value

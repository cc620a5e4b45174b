SELECT v.k, other.k
FROM carray(:keys) AS wanted CROSS JOIN variable AS v ON v.k = wanted.value
     CROSS JOIN variable AS other ON other.name_k = v.name_k AND other.class_k IS v.class_k AND other.occurrence = 0
WHERE other.trace_k = v.trace_k

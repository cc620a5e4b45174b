SELECT f.k, f.id, f.trace_k, f.origin, f.question_k, f.answer_k, f.expected_k, f.evidence_ids, f.question, f.prediction,
       f.gold_answers, f.created_at, f.attributes
FROM carray(:keys) AS wanted CROSS JOIN failure AS f ON f.k = wanted.value CROSS JOIN trace AS t ON t.k = f.trace_k
WHERE t.project = :project

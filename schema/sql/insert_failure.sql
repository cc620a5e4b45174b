INSERT INTO failure (k, id, trace_k, origin, question_k, answer_k, expected_k, evidence_ids, question, prediction, gold_answers, created_at, attributes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

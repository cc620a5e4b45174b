-- Whether an answer was judged right (1) or wrong (0). The answers of the failures that are stored were judged wrong.

ALTER TABLE variable ADD COLUMN is_right INTEGER;
UPDATE variable SET is_right = 0 WHERE k IN (SELECT answer_k FROM failure);

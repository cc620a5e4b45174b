// Verdicts that are stored say nothing of pieces.
MATCH (a:Attribution)
WHERE a.losses IS NULL
CALL (a) {
  SET a.losses = '[]'
} IN TRANSACTIONS OF 10000 ROWS;

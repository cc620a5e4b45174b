// The answers of the failures that are stored were judged wrong.
MATCH (v:Variable)<-[:ANSWERED]-(:Failure)
WHERE v.right IS NULL
CALL (v) {
  SET v.right = false
} IN TRANSACTIONS OF 10000 ROWS;

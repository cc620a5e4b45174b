-- What failures are filtered and sorted by, so that no verdict has to be read for it.

DROP INDEX attribution_of_failure;
CREATE INDEX attribution_of_failure
ON attribution (failure_k, method, error_type, operation_k, confidence, question_kind);

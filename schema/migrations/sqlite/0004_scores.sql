-- How well a retrieval rated what it had before it.

ALTER TABLE usage ADD COLUMN score REAL;

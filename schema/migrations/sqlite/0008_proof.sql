-- What replaying the program showed of a verdict.

ALTER TABLE attribution ADD COLUMN proof TEXT;

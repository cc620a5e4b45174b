-- Whose key it is. Keys that were there before have nobody's name: their own stands for it.

ALTER TABLE api_key ADD COLUMN person TEXT;

-- What people said of failures before they changed it. Ids are text here: other programs read them as they are.
CREATE TABLE verdict_change (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    failure_id TEXT NOT NULL,
    attribution_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    said TEXT,
    undone_at INTEGER,
    undone_by TEXT
) STRICT;
CREATE INDEX verdict_change_of_failure ON verdict_change (failure_id);
CREATE INDEX verdict_change_of_verdict ON verdict_change (attribution_id, number);
CREATE INDEX verdict_change_of_trace ON verdict_change (trace_id);

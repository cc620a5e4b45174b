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

-- Failures that people are to judge, and who has which of them.
CREATE TABLE annotation_queue (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    ordering TEXT NOT NULL,
    seed TEXT NOT NULL,
    annotators INTEGER NOT NULL,
    people TEXT NOT NULL,
    reservation_seconds INTEGER NOT NULL,
    failure_ids TEXT NOT NULL,
    ranks TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    closed_at INTEGER,
    closed_by TEXT
) STRICT;
CREATE INDEX annotation_queue_of_project ON annotation_queue (project, created_at, id);

CREATE TABLE assignment (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    queue_id TEXT NOT NULL,
    failure_id TEXT NOT NULL,
    person TEXT NOT NULL,
    progress TEXT NOT NULL,
    reserved_until INTEGER,
    changed_at INTEGER NOT NULL,
    attribution_id TEXT,
    draft TEXT
) STRICT;
CREATE INDEX assignment_of_queue ON assignment (queue_id);
CREATE INDEX assignment_of_person ON assignment (project, person);

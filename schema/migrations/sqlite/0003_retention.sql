-- How long a project keeps its traces, and when something was last written to each. Traces that were there before
-- count as written now, so that none is deleted too early.

ALTER TABLE trace ADD COLUMN written_at INTEGER NOT NULL DEFAULT 0;
UPDATE trace SET written_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER);
CREATE INDEX trace_by_writing ON trace (project, written_at, id);

CREATE TABLE retention_policy (
    project TEXT PRIMARY KEY NOT NULL,
    days INTEGER,
    traces INTEGER,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX retention_policy_by_time ON retention_policy (due_at);

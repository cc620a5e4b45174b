-- What the platform keeps of its own beside the traces. Times are microseconds since 1970 in UTC.

CREATE TABLE api_key (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE INDEX api_key_of_project ON api_key (project, created_at, id);

CREATE TABLE job (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    arguments TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    stage TEXT,
    done INTEGER NOT NULL,
    total INTEGER,
    result TEXT,
    error TEXT,
    attempts INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER
) STRICT;
CREATE INDEX job_of_project ON job (project, created_at, id);
CREATE INDEX job_to_claim ON job (created_at, id) WHERE state IN ('queued', 'running');
CREATE INDEX job_by_state ON job (state, created_at);

CREATE TABLE audit_entry (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    outcome TEXT NOT NULL,
    request_id TEXT
) STRICT;
CREATE INDEX audit_entry_of_project ON audit_entry (project, at, id);

CREATE INDEX failure_by_time ON failure (trace_k, created_at);
CREATE INDEX attribution_by_time ON attribution (trace_k, created_at, error_type);

-- Rows refer to each other by integer keys (k). Ids are the 16 bytes of the public id; times are microseconds since 1970
-- in UTC. Texts that repeat (names, comments, attributes, ...) are stored once a trace in "text".

CREATE TABLE trace (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    project TEXT NOT NULL,
    external_id TEXT NOT NULL,
    name TEXT,
    source TEXT NOT NULL,
    created_at INTEGER,
    attributes TEXT NOT NULL,
    written_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX trace_of_project ON trace (project, created_at, id);
CREATE INDEX trace_by_writing ON trace (project, written_at, id);

CREATE TABLE text (
    k INTEGER PRIMARY KEY,
    trace_k INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX text_by_hash ON text (hash, trace_k);
CREATE INDEX text_of_trace ON text (trace_k);

CREATE TABLE pack (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    trace_k INTEGER NOT NULL,
    raw_size INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE INDEX pack_of_trace ON pack (trace_k);

-- text: a value of up to 2,048 bytes, or the first 500 characters of a longer value.
CREATE TABLE value (
    k INTEGER PRIMARY KEY,
    trace_k INTEGER NOT NULL,
    hash BLOB NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    text TEXT NOT NULL,
    pack_k INTEGER,
    pack_offset INTEGER
) STRICT;
CREATE UNIQUE INDEX value_by_hash ON value (trace_k, hash, media_type);

CREATE TABLE session (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    trace_k INTEGER NOT NULL,
    external_k INTEGER NOT NULL,
    name_k INTEGER,
    category_k INTEGER,
    comment_k INTEGER,
    sequence INTEGER NOT NULL,
    created_at INTEGER,
    attributes_k INTEGER NOT NULL
) STRICT;
CREATE INDEX session_in_order ON session (trace_k, sequence, k);
CREATE INDEX session_by_external_id ON session (external_k);

CREATE TABLE operation (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    trace_k INTEGER NOT NULL,
    session_k INTEGER,
    external_k INTEGER NOT NULL,
    name_k INTEGER,
    kind TEXT NOT NULL,
    category_k INTEGER,
    comment_k INTEGER,
    status TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    location_k INTEGER,
    attributes_k INTEGER NOT NULL
) STRICT;
CREATE INDEX operation_in_order ON operation (trace_k, sequence, k);
CREATE INDEX operation_by_external_id ON operation (external_k);

-- is_right: whether an answer was judged right (1) or wrong (0).
CREATE TABLE variable (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    trace_k INTEGER NOT NULL,
    session_k INTEGER,
    operation_k INTEGER,
    revision_k INTEGER,
    external_k INTEGER NOT NULL,
    name_k INTEGER NOT NULL,
    class_k INTEGER,
    version INTEGER NOT NULL,
    occurrence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    category_k INTEGER,
    comment_k INTEGER,
    value_k INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    created_at INTEGER,
    location_k INTEGER,
    attributes_k INTEGER NOT NULL,
    is_right INTEGER
) STRICT;
CREATE INDEX variable_in_order ON variable (trace_k, sequence, k);
CREATE INDEX variable_by_external_id ON variable (external_k);
CREATE INDEX variable_by_name ON variable (name_k);
CREATE INDEX variable_by_value ON variable (value_k);
CREATE INDEX variable_by_operation ON variable (operation_k) WHERE operation_k IS NOT NULL;

CREATE TABLE derivation (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    trace_k INTEGER NOT NULL,
    source_k INTEGER NOT NULL,
    target_k INTEGER NOT NULL,
    operation_k INTEGER NOT NULL,
    external_id TEXT,
    kind TEXT NOT NULL,
    category_k INTEGER,
    comment_k INTEGER,
    sequence INTEGER NOT NULL,
    created_at INTEGER,
    location_k INTEGER,
    attributes_k INTEGER NOT NULL
) STRICT;
CREATE INDEX derivation_by_target ON derivation (target_k, source_k);
CREATE INDEX derivation_by_source ON derivation (source_k, target_k);
CREATE INDEX derivation_in_order ON derivation (trace_k, sequence, k);
CREATE INDEX derivation_by_external_id ON derivation (external_id) WHERE external_id IS NOT NULL;

-- score: how a retrieval rated the variable.
CREATE TABLE usage (
    operation_k INTEGER NOT NULL,
    position INTEGER NOT NULL,
    variable_k INTEGER NOT NULL,
    role TEXT,
    score REAL,
    PRIMARY KEY (operation_k, position, variable_k)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_variable ON usage (variable_k);

CREATE TABLE invalidation (
    variable_k INTEGER NOT NULL,
    operation_k INTEGER NOT NULL,
    PRIMARY KEY (variable_k, operation_k)
) STRICT, WITHOUT ROWID;
CREATE INDEX invalidation_by_operation ON invalidation (operation_k);

-- evidence_ids and gold_answers are JSON arrays of text.
CREATE TABLE failure (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    trace_k INTEGER NOT NULL,
    origin TEXT NOT NULL,
    question_k INTEGER NOT NULL,
    answer_k INTEGER,
    expected_k INTEGER,
    evidence_ids TEXT NOT NULL,
    question TEXT NOT NULL,
    prediction TEXT,
    gold_answers TEXT NOT NULL,
    created_at INTEGER,
    attributes TEXT NOT NULL
) STRICT;
CREATE INDEX failure_of_trace ON failure (trace_k, id);
CREATE INDEX failure_by_time ON failure (trace_k, created_at);

CREATE TABLE attribution (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    trace_k INTEGER NOT NULL,
    failure_k INTEGER NOT NULL,
    error_type TEXT,
    operation_k INTEGER,
    confidence REAL,
    method TEXT NOT NULL,
    model TEXT,
    reason TEXT,
    evidence TEXT NOT NULL,
    candidates TEXT NOT NULL,
    tokens INTEGER,
    cost REAL,
    seconds REAL,
    created_at INTEGER,
    author TEXT,
    attributes TEXT NOT NULL,
    losses TEXT NOT NULL DEFAULT '[]',
    question_kind TEXT,
    proof TEXT
) STRICT;
-- The columns after failure_k are those that failures are filtered and sorted by.
CREATE INDEX attribution_of_failure
ON attribution (failure_k, method, error_type, operation_k, confidence, question_kind);
CREATE INDEX attribution_of_trace ON attribution (trace_k);
CREATE INDEX attribution_by_time ON attribution (trace_k, created_at, error_type);

-- For other programs: the operations that lost a piece, like (:Attribution)-[:LOST]->(:Operation) in Neo4j.
CREATE VIEW lost AS
SELECT t.project AS project_id, lower(hex(t.id)) AS trace_id, lower(hex(f.id)) AS failure_id,
       lower(hex(a.id)) AS attribution_id, loss.value ->> 'operationId' AS operation_id, loss.key AS position,
       loss.value ->> 'piece' AS piece, loss.value ->> 'errorType' AS error_type,
       loss.value ->> 'confidence' AS confidence
FROM attribution AS a JOIN trace AS t ON t.k = a.trace_k JOIN failure AS f ON f.k = a.failure_k
     JOIN json_each(a.losses) AS loss
WHERE loss.value ->> 'operationId' IS NOT NULL;

-- The words of name, comment and preview of recorded variables; rowid is variable.k. schema.words splits the text into
-- words; the tokenizer only splits at ASCII characters that are no letters or digits.
CREATE VIRTUAL TABLE variable_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

-- Records of the platform beside the traces. Their ids are text, so that other programs can read them.

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
    last_used_at INTEGER,
    person TEXT
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

CREATE TABLE retention_policy (
    project TEXT PRIMARY KEY NOT NULL,
    days INTEGER,
    traces INTEGER,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX retention_policy_by_time ON retention_policy (due_at);

-- The history of people's verdicts.
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

-- Which person has which case of a queue.
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

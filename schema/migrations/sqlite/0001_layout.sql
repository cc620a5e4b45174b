-- Rows refer to each other by integer keys (k); ids are the 16 bytes of the public id; times are microseconds since
-- 1970 in UTC. Texts that repeat (names, comments, attributes, ...) stand once per trace in "text".

CREATE TABLE trace (
    k INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    project TEXT NOT NULL,
    external_id TEXT NOT NULL,
    name TEXT,
    source TEXT NOT NULL,
    created_at INTEGER,
    attributes TEXT NOT NULL
) STRICT;
CREATE INDEX trace_of_project ON trace (project, created_at, id);

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

-- text: the whole value up to 2,048 bytes, else its first 500 characters.
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
    attributes_k INTEGER NOT NULL
) STRICT;
CREATE INDEX variable_in_order ON variable (trace_k, sequence, k);
CREATE INDEX variable_by_external_id ON variable (external_k);
CREATE INDEX variable_by_name ON variable (name_k);
CREATE INDEX variable_by_value ON variable (value_k);
CREATE INDEX variable_by_operation ON variable (operation_k) WHERE operation_k IS NOT NULL;

-- target was derived from source.
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

CREATE TABLE usage (
    operation_k INTEGER NOT NULL,
    position INTEGER NOT NULL,
    variable_k INTEGER NOT NULL,
    role TEXT,
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
    attributes TEXT NOT NULL
) STRICT;
CREATE INDEX attribution_of_failure ON attribution (failure_k);
CREATE INDEX attribution_of_trace ON attribution (trace_k);

-- The words of name, comment and preview of recorded variables; rowid is variable.k. Words are parted by schema.words;
-- the tokenizer only splits at what is no ASCII letter or digit.
CREATE VIRTUAL TABLE variable_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

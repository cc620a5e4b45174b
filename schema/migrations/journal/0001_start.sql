-- Events that wait for the graph, where no broker is at hand. Times are microseconds since 1970 in UTC.

CREATE TABLE packet (
    k INTEGER PRIMARY KEY AUTOINCREMENT,
    lane INTEGER NOT NULL,
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    body BLOB NOT NULL,
    events INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    tries INTEGER NOT NULL
) STRICT;
CREATE INDEX packet_of_lane ON packet (lane, k);

-- How much waits, so that nobody needs to count it.
CREATE TABLE amount (
    k INTEGER PRIMARY KEY,
    packets INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO amount (k, packets, bytes) VALUES (1, 0, 0);

CREATE TABLE dead_letter (
    k INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    event BLOB NOT NULL,
    reason TEXT NOT NULL,
    tries INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,
    died_at INTEGER NOT NULL
) STRICT;
CREATE INDEX dead_letter_of_project ON dead_letter (project, k);

-- Which worker holds which lane; see ingest.queue.shares.
CREATE TABLE shares (
    k INTEGER PRIMARY KEY,
    shares TEXT
) STRICT;
INSERT INTO shares (k, shares) VALUES (1, NULL);

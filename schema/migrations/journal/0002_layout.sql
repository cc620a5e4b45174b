-- The journal: events that wait to be written to the graph, if no broker is configured. Times are microseconds since
-- 1970 in UTC.

-- Packets are taken in the order of k, and the projects of a lane in turn. A packet whose events came too early waits
-- apart (waits = 1) until the elements that its events refer to have come, or its time is over.
CREATE TABLE packet (
    k INTEGER PRIMARY KEY AUTOINCREMENT,
    lane INTEGER NOT NULL,
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    body BLOB NOT NULL,
    events INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    waits INTEGER NOT NULL DEFAULT 0,
    rebuilt INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX packet_of_project ON packet (lane, waits, project, k);

-- Number and size of all packets, kept up to date so that nobody has to count.
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

-- found: events that the platform found itself, such as edges between spans; they never become dead letters.
ALTER TABLE packet ADD COLUMN found INTEGER NOT NULL DEFAULT 0;

-- Dead letters of a project that were given up together, as a compressed list; see ingest.queue.journal.letters. "last"
-- is at least the number of the last letter, and above the numbers of all earlier blocks.
CREATE TABLE dead_block (
    last INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    letters INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX dead_block_of_project ON dead_block (project, last);

-- Number and size of a project's dead letters, and how many were deleted because there were too many.
CREATE TABLE dead_amount (
    project TEXT PRIMARY KEY,
    letters INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    lost INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The number of the next dead letter; numbers are never given twice.
CREATE TABLE dead_number (
    k INTEGER PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT;
INSERT INTO dead_number (k, next)
SELECT 1, coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'dead_letter';

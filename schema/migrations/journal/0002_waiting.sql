-- Packets come by the order in which they were made durable, and no clock has a say in it. Those whose events came too
-- early wait apart, until what they wait for has come or their time is over: whoever works on the lane knows when, by a
-- clock that nobody can set. The projects of a lane are served in turn.

DROP INDEX packet_of_lane;
ALTER TABLE packet DROP COLUMN due_at;
ALTER TABLE packet ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE packet ADD COLUMN rebuilt INTEGER NOT NULL DEFAULT 0;
CREATE INDEX packet_of_project ON packet (lane, waits, project, k);

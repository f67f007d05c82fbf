-- Traces with spans that are not in a turn yet. A trace is the turn that is named after it. Times are
-- arrivals by the server's clock, in microseconds.
CREATE TABLE pending_traces (
    turn     INTEGER PRIMARY KEY,
    project  INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    position INTEGER NOT NULL, -- of the newest spans
    has_root INTEGER NOT NULL  -- 1 when the span that ends the request is among them
) WITHOUT ROWID;
CREATE INDEX pending_traces_with_root ON pending_traces (first_at) WHERE has_root = 1;
CREATE INDEX pending_traces_by_last ON pending_traces (last_at);
CREATE TABLE baseline_pending_traces (
    turn     INTEGER PRIMARY KEY,
    project  INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    has_root INTEGER NOT NULL
) WITHOUT ROWID;

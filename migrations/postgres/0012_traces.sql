-- Traces with spans that are not in a turn yet. A trace is the turn that is named after it. Times are
-- arrivals by the server's clock, in microseconds.
CREATE TABLE pending_traces (
    turn     BIGINT PRIMARY KEY,
    project  BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at  BIGINT NOT NULL,
    position BIGINT NOT NULL, -- of the newest spans
    has_root BIGINT NOT NULL  -- 1 when the span that ends the request is among them
);
CREATE INDEX pending_traces_with_root ON pending_traces (first_at) WHERE has_root = 1;
CREATE INDEX pending_traces_by_last ON pending_traces (last_at);
CREATE TABLE baseline_pending_traces (
    turn     BIGINT PRIMARY KEY,
    project  BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at  BIGINT NOT NULL,
    position BIGINT NOT NULL,
    has_root BIGINT NOT NULL
);

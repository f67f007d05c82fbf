-- Leases of leader-only work: holder, expiry and progress. `epoch` is the fencing token: it grows with each
-- new holder, so that a stale holder is refused. Not a projection.
CREATE TABLE leases (
    name     TEXT PRIMARY KEY,
    holder   TEXT NOT NULL,
    until    INTEGER NOT NULL, -- microseconds
    epoch    INTEGER NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;

-- Which of several nodes does what only one may do, until when, and how far it has come. `epoch` grows with
-- each new holder: an earlier one that wakes up late can be told from it. Not a projection.
CREATE TABLE leases (
    name     TEXT PRIMARY KEY,
    holder   TEXT NOT NULL,
    until    INTEGER NOT NULL, -- microseconds
    epoch    INTEGER NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;

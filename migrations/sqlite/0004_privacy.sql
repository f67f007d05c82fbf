-- Redaction and retention settings per tenant. A projection of the rules in the log.
CREATE TABLE privacy (
    tenant   TEXT PRIMARY KEY,
    settings TEXT NOT NULL
) WITHOUT ROWID;

-- Attributes of users, by which reports are filtered. A projection of the log.
CREATE TABLE profiles (
    user       INTEGER PRIMARY KEY,
    attributes TEXT NOT NULL
);

-- Dead letters: accepted writes that could not be stored, with the reason. They can be replayed.
CREATE TABLE dead_letters (
    number  INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    id      TEXT NOT NULL,
    reason  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    letter  TEXT NOT NULL,
    UNIQUE (project, id)
);

-- What each tenant wants removed and how long things are kept. A projection of the rules in the log.
CREATE TABLE privacy (
    tenant   TEXT PRIMARY KEY,
    settings TEXT NOT NULL
) WITHOUT ROWID;

-- What is known of users beside what they did: attributes by which reports can be sliced. A
-- projection of the log.
CREATE TABLE profiles (
    user       INTEGER PRIMARY KEY,
    attributes TEXT NOT NULL
);

-- Writes that were accepted and could not be stored: kept whole, with the reason, to be tried again.
CREATE TABLE dead_letters (
    number  INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    id      TEXT NOT NULL,
    reason  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    letter  TEXT NOT NULL,
    UNIQUE (project, id)
);

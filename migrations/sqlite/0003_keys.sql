-- API keys. The secret itself is nowhere, only its hash. A key that was revoked stays in the list:
-- once there have been keys, the server is never open again.
CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL,
    tenant     TEXT NOT NULL,
    project    TEXT,
    role       INTEGER NOT NULL,
    rate       INTEGER,
    origin     TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;

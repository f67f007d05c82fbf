-- A query may be reported in parts: each of them counts.
DROP TABLE returned;
CREATE TABLE returned (
    project  INTEGER NOT NULL,
    query    TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (project, query, position)
) WITHOUT ROWID;

-- Quality: facts about each turn, and their sums by hour, model and prompt.
-- All of these are projections of the log.

-- The facts of a turn. A turn that is not open yet has a row, but does not count.
CREATE TABLE turn_facts (
    turn       INTEGER PRIMARY KEY,
    project    INTEGER NOT NULL,
    user       INTEGER,
    ts         INTEGER, -- empty until it is opened
    model      TEXT NOT NULL DEFAULT '',
    prompt     TEXT NOT NULL DEFAULT '', -- id@version
    answered   INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0, -- bits: reported by the application (1), detected (2)
    millis     INTEGER,
    tokens     INTEGER NOT NULL DEFAULT 0,
    cost       INTEGER NOT NULL DEFAULT 0, -- in billionths
    ok         INTEGER NOT NULL DEFAULT 0, -- reactions of users
    not_ok     INTEGER NOT NULL DEFAULT 0,
    neutral    INTEGER NOT NULL DEFAULT 0,
    status     INTEGER NOT NULL DEFAULT 0, -- as in the index of turns
    both       INTEGER NOT NULL DEFAULT 0, -- user and machine took sides
    agree      INTEGER NOT NULL DEFAULT 0,
    corrected  INTEGER NOT NULL DEFAULT 0,
    retried    INTEGER NOT NULL DEFAULT 0,
    heard      INTEGER NOT NULL DEFAULT 0, -- a comment, or something done with the answer
    refined    INTEGER NOT NULL DEFAULT 0,
    ended      INTEGER NOT NULL DEFAULT 0, -- the last of its session
    abandoned  INTEGER NOT NULL DEFAULT 0,
    negative   INTEGER NOT NULL DEFAULT 0  -- something about it went wrong
);

CREATE INDEX turn_facts_by_user ON turn_facts (user, ts) WHERE user IS NOT NULL AND ts IS NOT NULL;
CREATE INDEX turn_facts_negative ON turn_facts (project, ts) WHERE negative = 1;

-- Sums by hour (since 1970), model and prompt. Facts without a turn have neither model nor prompt.
CREATE TABLE quality (
    project      INTEGER NOT NULL,
    hour         INTEGER NOT NULL,
    model        TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    turns        INTEGER NOT NULL,
    answered     INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    ok           INTEGER NOT NULL,
    not_ok       INTEGER NOT NULL,
    neutral      INTEGER NOT NULL,
    accepted     INTEGER NOT NULL,
    rejected     INTEGER NOT NULL,
    wrong        INTEGER NOT NULL,
    corrected    INTEGER NOT NULL,
    retried      INTEGER NOT NULL,
    heard        INTEGER NOT NULL,
    both         INTEGER NOT NULL,
    agree        INTEGER NOT NULL,
    refined      INTEGER NOT NULL,
    ended        INTEGER NOT NULL,
    abandoned    INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    sql_made     INTEGER NOT NULL,
    sql_executed INTEGER NOT NULL,
    PRIMARY KEY (project, hour, model, prompt)
) WITHOUT ROWID;

-- Latency histograms: each step is a tenth longer than the one before.
CREATE TABLE waits (
    project INTEGER NOT NULL,
    hour    INTEGER NOT NULL,
    model   TEXT NOT NULL,
    prompt  TEXT NOT NULL,
    step    INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (project, hour, model, prompt, step)
) WITHOUT ROWID;

-- The contribution of a decision to the sums.
ALTER TABLE decisions ADD COLUMN sql_hour INTEGER; -- of a generated SQL statement
ALTER TABLE decisions ADD COLUMN made_executed INTEGER;
ALTER TABLE decisions ADD COLUMN settled_executed INTEGER;
ALTER TABLE baseline_decisions ADD COLUMN sql_hour INTEGER;
ALTER TABLE baseline_decisions ADD COLUMN made_executed INTEGER;
ALTER TABLE baseline_decisions ADD COLUMN settled_executed INTEGER;

-- Targets of tenants, and the position that set them.
CREATE TABLE targets (
    tenant   TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    settings TEXT NOT NULL
) WITHOUT ROWID;

-- Alerts: the positions of the events that raised and cleared each.
CREATE TABLE alerts (
    raised  INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    metric  TEXT NOT NULL,
    cleared INTEGER
);

CREATE INDEX alerts_by_project ON alerts (project, metric);

-- Deliveries of alerts to webhooks. Not a projection, because a delivery cannot be repeated.
CREATE TABLE deliveries (
    position INTEGER PRIMARY KEY,
    attempts INTEGER NOT NULL,
    next_ts  INTEGER, -- the next attempt; empty when delivered or given up
    error    TEXT
);

CREATE TABLE baseline_targets AS SELECT * FROM targets WHERE FALSE;
CREATE TABLE baseline_alerts AS SELECT * FROM alerts WHERE FALSE;
CREATE TABLE baseline_turn_facts AS SELECT * FROM turn_facts WHERE FALSE;
CREATE TABLE baseline_quality AS SELECT * FROM quality WHERE FALSE;
CREATE TABLE baseline_waits AS SELECT * FROM waits WHERE FALSE;

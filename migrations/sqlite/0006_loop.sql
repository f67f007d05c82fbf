-- The conversation loop: verdicts of messages on earlier turns, the turn index, open sessions.
-- All of these are projections of the log.

-- Verdicts on turns: one row per message, and any number by machines of the application.
CREATE TABLE verdicts (
    position       INTEGER PRIMARY KEY,
    turn           INTEGER, -- empty when the verdict has no target
    detected_in    INTEGER, -- the turn of the message; empty when another machine judged
    status         INTEGER NOT NULL,
    confidence     REAL NOT NULL,
    raw_confidence REAL NOT NULL,
    moved_on       INTEGER NOT NULL
);

CREATE INDEX verdicts_by_turn ON verdicts (turn) WHERE turn IS NOT NULL;
CREATE UNIQUE INDEX verdicts_by_message ON verdicts (detected_in) WHERE detected_in IS NOT NULL;

-- Machine reactions name the message they were detected in.
ALTER TABLE reactions ADD COLUMN detected_in INTEGER;
ALTER TABLE baseline_reactions ADD COLUMN detected_in INTEGER;
CREATE INDEX reactions_by_message ON reactions (detected_in) WHERE detected_in IS NOT NULL;

-- The turn index. A turn is added when it is opened.
CREATE TABLE turn_index (
    turn                  INTEGER PRIMARY KEY,
    project               INTEGER NOT NULL,
    intent                TEXT,
    completed             INTEGER NOT NULL DEFAULT 0,
    validation_outcome    INTEGER,
    quality_score         REAL,
    has_strategy          INTEGER NOT NULL DEFAULT 0,
    user_feedback_status  TEXT NOT NULL DEFAULT 'neutral',
    feedback_confidence   REAL NOT NULL DEFAULT 0.5,
    rejection_detected_in TEXT,
    verdict               INTEGER, -- the position of the verdict in force
    review                INTEGER, -- the reviewer's verdict, and its position
    reviewed              INTEGER,
    corrects              INTEGER, -- the turn whose question this one's message corrects
    silent                INTEGER NOT NULL DEFAULT 0 -- the session ended after it
);

CREATE INDEX idx_feedback_status ON turn_index (project, user_feedback_status);
CREATE INDEX turn_index_by_review ON turn_index (project, reviewed) WHERE reviewed IS NOT NULL;
CREATE INDEX turn_index_by_corrected ON turn_index (corrects) WHERE corrects IS NOT NULL;

-- The vector of each turn's question: a scale and one byte per dimension.
CREATE TABLE turn_vectors (
    turn   INTEGER PRIMARY KEY,
    model  TEXT NOT NULL,
    vector BLOB NOT NULL
);

-- Open sessions: conversations without a silence since their last turn.
CREATE TABLE open_sessions (
    conversation INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL,
    started_ts   INTEGER NOT NULL,
    last_ts      INTEGER NOT NULL,
    last_turn    INTEGER NOT NULL,
    turns        INTEGER NOT NULL
);

CREATE INDEX open_sessions_by_time ON open_sessions (last_ts);

-- The calibration curve of each project.
CREATE TABLE calibrations (
    project  INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    settings TEXT NOT NULL
);

CREATE INDEX turns_answered ON turns (conversation, ts) WHERE completed IS NOT NULL;
CREATE INDEX baseline_turns_by_user ON baseline_turns (user);
CREATE INDEX turns_by_user ON turns (user, ts) WHERE user IS NOT NULL;

CREATE TABLE baseline_verdicts AS SELECT * FROM verdicts WHERE FALSE;
CREATE TABLE baseline_turn_index AS SELECT * FROM turn_index WHERE FALSE;
CREATE TABLE baseline_turn_vectors AS SELECT * FROM turn_vectors WHERE FALSE;
CREATE TABLE baseline_open_sessions AS SELECT * FROM open_sessions WHERE FALSE;
CREATE TABLE baseline_calibrations AS SELECT * FROM calibrations WHERE FALSE;

-- Adds turns whose events were dropped before the index existed, from their remaining columns.
INSERT INTO baseline_turn_index (turn, project, completed, has_strategy, user_feedback_status,
    feedback_confidence, silent)
SELECT t.key, t.project, t.completed IS NOT NULL, 0,
    coalesce((SELECT CASE r.reaction WHEN 1 THEN 'accepted' WHEN 2 THEN 'rejected' ELSE 'neutral' END
        FROM baseline_reactions r WHERE r.turn = t.key AND r.origin = 1
        ORDER BY r.position DESC LIMIT 1), 'neutral'),
    iif(EXISTS (SELECT 1 FROM baseline_reactions r WHERE r.turn = t.key AND r.origin = 1), 1.0, 0.5), 0
FROM baseline_turns t WHERE t.opened IS NOT NULL;

CREATE INDEX baseline_turn_index_by_turn ON baseline_turn_index (turn);
CREATE INDEX baseline_turn_vectors_by_turn ON baseline_turn_vectors (turn);

-- Projections of the log: each can be dropped and made again by `uptake rebuild`.

-- Active reactions, under the position of the event that gave them. One per turn and user, any
-- number by the machine. `conversation` is the turn's; until the turn arrives, the event's.
-- `user` is empty when neither the event nor the turn named one.
CREATE TABLE reactions (
    position     INTEGER PRIMARY KEY,
    event        BLOB NOT NULL,
    project      INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    conversation INTEGER,
    user         INTEGER,
    origin       INTEGER NOT NULL,
    reaction     INTEGER NOT NULL,
    confidence   REAL NOT NULL,
    ts           INTEGER NOT NULL
);

CREATE INDEX reactions_by_turn ON reactions (turn, origin, user);
CREATE INDEX reactions_by_time ON reactions (project, ts, conversation, origin, reaction);
CREATE INDEX reactions_by_user ON reactions (project, user, ts, conversation);
CREATE INDEX reactions_by_conversation ON reactions (conversation, origin, reaction, ts)
    WHERE conversation IS NOT NULL;

-- Reactions counted by conversation, day (UTC), origin and reaction, so that the period report costs
-- the page it shows and not the history behind it.
CREATE TABLE activity (
    conversation INTEGER NOT NULL,
    day          INTEGER NOT NULL,
    origin       INTEGER NOT NULL,
    reaction     INTEGER NOT NULL,
    project      INTEGER NOT NULL,
    count        INTEGER NOT NULL,
    last_ts      INTEGER NOT NULL,
    PRIMARY KEY (conversation, day, origin, reaction)
) WITHOUT ROWID;

CREATE INDEX activity_by_time ON activity (project, last_ts, conversation, origin, reaction);

-- The newest reaction of each conversation, for windows that end after it.
CREATE TABLE newest (
    conversation INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL,
    last_ts      INTEGER NOT NULL
);

CREATE INDEX newest_by_time ON newest (project, last_ts, conversation);

-- Decisions: the positions of the events that made and last settled each.
CREATE TABLE decisions (
    project      INTEGER NOT NULL,
    id           BLOB NOT NULL,
    conversation INTEGER,
    made         INTEGER,
    settled      INTEGER,
    PRIMARY KEY (project, id)
) WITHOUT ROWID;

CREATE INDEX decisions_by_conversation ON decisions (conversation, made)
    WHERE conversation IS NOT NULL;

-- The positions of followers of the log, such as the mirror of turn logs. Not a projection.
CREATE TABLE cursors (
    name     TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) WITHOUT ROWID;

-- Mirrored turn logs: where each is, and the document itself when it is kept here. A copy, not a
-- projection: the mirror makes it again from the log.
CREATE TABLE turn_logs (
    turn       INTEGER PRIMARY KEY,
    hosted_uri TEXT NOT NULL,
    document   TEXT
);

-- The view `conv_messages`: reactions as rows of a message index, for SQL readers.
CREATE VIEW conv_messages AS
SELECT
    p.tenant, p.project, u.id AS user_id, c.id AS conversation_id, t.id AS turn_id,
    'artifact' AS role,
    CASE WHEN t.track IS NULL
        THEN json_array('artifact:turn.log.reaction', 'turn:' || t.id,
            'origin:' || iif(r.origin = 1, 'user', 'machine'))
        ELSE json_array('artifact:turn.log.reaction', 'turn:' || t.id,
            'origin:' || iif(r.origin = 1, 'user', 'machine'), 'track:' || t.track)
    END AS tags,
    t.track AS track_id, t.bundle AS bundle_id,
    '[turn.log.reaction] ' || json_object(
        'turn_id', t.id,
        'text', coalesce(json_extract(e.data, '$.text'), json_extract(e.data, '$.comment')),
        'confidence', r.confidence,
        'reaction', CASE r.reaction WHEN 1 THEN 'ok' WHEN 2 THEN 'not_ok' ELSE 'neutral' END,
        'origin', iif(r.origin = 1, 'user', 'machine')) AS text,
    'uptake:event:' || r.position AS hosted_uri,
    r.ts AS ts, NULL AS embedding
FROM reactions r
JOIN projects p ON p.key = r.project
JOIN turns t ON t.key = r.turn
LEFT JOIN events e ON e.position = r.position
LEFT JOIN users u ON u.key = r.user
LEFT JOIN conversations c ON c.key = r.conversation;

-- Routing: definitions and learnt state of routers, and the records of the turns they served.

-- A projection of the log.
CREATE TABLE routers (
    project    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    position   INTEGER NOT NULL, -- where it was first set
    definition TEXT NOT NULL,    -- as it is now
    PRIMARY KEY (project, name)
) WITHOUT ROWID;

CREATE TABLE baseline_routers AS SELECT * FROM routers WHERE FALSE;

-- Checkpoints of learnt state at a log position. A lost checkpoint is recomputed from the log.
CREATE TABLE router_progress (
    project  INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
);

CREATE TABLE router_states (
    project    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    definition TEXT NOT NULL,
    state      BLOB NOT NULL, -- versioned, with a checksum
    PRIMARY KEY (project, name)
) WITHOUT ROWID;

-- Per turn: its signals, the arm that served it, and its current observation.
CREATE TABLE router_turns (
    turn     INTEGER PRIMARY KEY,
    project  INTEGER NOT NULL,
    router   TEXT, -- empty when no router chose who answers
    ts       INTEGER NOT NULL,
    record   TEXT NOT NULL,
    features BLOB -- of the request; goes when its user is erased
);

CREATE INDEX router_turns_by_router ON router_turns (project, router, ts) WHERE router IS NOT NULL;

-- The view `implicit_feedback`: the detected signals of each answer.
CREATE VIEW implicit_feedback AS
SELECT
    'uptake:event:' || a.position AS id,
    p.tenant, p.project,
    t.id AS query_id,
    coalesce(json_extract(d.data, '$.model'), 'unknown') AS model_id,
    a.ts AS timestamp,
    json_extract(a.data, '$.error.error_type') IS NOT NULL AS error_occurred,
    json_extract(a.data, '$.error.error_type') AS error_type,
    json_extract(a.data, '$.latency.seconds') AS latency_seconds,
    coalesce(json_extract(a.data, '$.latency.accepted'), 1) AS latency_accepted,
    json_extract(a.data, '$.latency.tolerance') AS latency_tolerance,
    r.position IS NOT NULL AS retry_detected,
    json_extract(r.data, '$.delay_seconds') AS retry_delay_seconds,
    json_extract(r.data, '$.similarity') AS similarity_score,
    o.id AS original_query_id,
    a.received_at AS created_at
FROM turns t
JOIN projects p ON p.key = t.project
JOIN events d ON d.position = t.completed
-- The findings of an answer directly follow it in the log; a retry directly follows its question.
JOIN events a ON a.position BETWEEN t.completed + 1 AND t.completed + 8
    AND a.turn = t.key AND json_extract(a.data, '$.finding') = 'answer'
LEFT JOIN events r ON r.position BETWEEN t.opened + 1 AND t.opened + 8
    AND json_extract(r.data, '$.finding') = 'retry' AND json_extract(r.data, '$.detected_in') = t.id
LEFT JOIN turns o ON o.key = r.turn;

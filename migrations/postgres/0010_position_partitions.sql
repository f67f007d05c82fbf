-- Events are partitioned by ranges of position, by which they are looked up. `make_partition` creates the partition
-- of a range before the log reaches it. `events_other` holds events of a range without a partition.
DROP VIEW conv_messages;
DROP VIEW implicit_feedback;
DROP FUNCTION make_partition(DATE);
ALTER TABLE events RENAME TO events_by_month;
ALTER TABLE events_by_month RENAME CONSTRAINT events_pkey TO events_by_month_pkey;
ALTER TABLE events_other RENAME TO events_by_month_other;
DROP INDEX events_by_project, events_by_turn, events_by_user, events_of_conversations, events_by_word;

CREATE TABLE events (
    position     BIGINT PRIMARY KEY,
    project      BIGINT NOT NULL,
    type         BIGINT NOT NULL,
    source       BIGINT NOT NULL,
    severity     BIGINT NOT NULL,
    category     BIGINT NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    "user"       BIGINT,
    conversation BIGINT,
    turn         BIGINT,
    ts           BIGINT NOT NULL,
    received_at  BIGINT NOT NULL,
    tags         TEXT COLLATE "C",
    data         TEXT COLLATE "C" NOT NULL
) PARTITION BY RANGE (position);
CREATE TABLE events_other PARTITION OF events DEFAULT;

-- The number of the partition of a position.
CREATE FUNCTION partition_number(a_position BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS
    'SELECT a_position / 10000000';

-- Creates a partition. Returns true when nothing is left to do. A range that has events in `events_other` keeps
-- them there. Readers and writers of events wait for the creation, so its lock timeout is short and the caller
-- retries.
CREATE FUNCTION make_partition(a_number BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
    name CONSTANT TEXT := 'events_' || a_number;
    since CONSTANT BIGINT := a_number * 10000000;
    until CONSTANT BIGINT := (a_number + 1) * 10000000;
BEGIN
    IF to_regclass(name) IS NOT NULL THEN
        RETURN TRUE;
    ELSIF NOT pg_try_advisory_xact_lock(hashtext(current_schema() || '.make_partition')) THEN
        RETURN FALSE;
    ELSIF EXISTS (SELECT FROM events_other WHERE position >= since AND position < until) THEN
        RETURN TRUE;
    END IF;
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)',
        name, since, until);
    RETURN TRUE;
EXCEPTION
    WHEN check_violation THEN
        RETURN TRUE;
    WHEN duplicate_table OR unique_violation OR lock_not_available OR deadlock_detected THEN
        RETURN FALSE;
END $$;

-- Drops one partition that the log has passed and whose events are all dropped. Returns its name. At most one,
-- because readers and writers of events wait until the transaction ends.
CREATE FUNCTION drop_empty_partition() RETURNS TEXT LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
    name TEXT;
    is_empty BOOLEAN;
BEGIN
    FOR name IN
        SELECT c.relname
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid CROSS JOIN log_head h
        WHERE i.inhparent = CAST('events' AS regclass) AND c.relname ~ '^events_[0-9]+$'
            AND CAST(substr(c.relname, 8) AS BIGINT) < partition_number(h.position)
        ORDER BY CAST(substr(c.relname, 8) AS BIGINT)
    LOOP
        -- By the index from its end, because retention empties a partition from its start.
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I ORDER BY position DESC LIMIT 1)', name) INTO is_empty;
        IF is_empty THEN
            EXECUTE format('DROP TABLE %I', name);
            RETURN name;
        END IF;
    END LOOP;
    RETURN NULL;
EXCEPTION
    WHEN undefined_table OR lock_not_available OR deadlock_detected THEN
        RETURN NULL;
END $$;

SELECT make_partition(n) FROM log_head h CROSS JOIN generate_series(
    partition_number(coalesce((SELECT min(position) FROM events_by_month), h.position)),
    partition_number(h.position) + 1) n;
INSERT INTO events (position, project, type, source, severity, category, id, "user", conversation, turn, ts,
    received_at, tags, data)
SELECT position, project, type, source, severity, category, id, "user", conversation, turn, ts, received_at, tags, data
FROM events_by_month ORDER BY position;
DROP TABLE events_by_month;

CREATE INDEX events_by_project ON events (project, position, type, source);
CREATE INDEX events_by_turn ON events (turn, position) WHERE turn IS NOT NULL;
CREATE INDEX events_by_user ON events ("user", position) WHERE "user" IS NOT NULL;
CREATE INDEX events_of_conversations ON events (conversation, position)
    WHERE conversation IS NOT NULL AND "user" IS NULL AND turn IS NULL;
CREATE INDEX events_by_word ON events USING gin (said_words(project, data))
    WHERE turn IS NOT NULL AND source IN (4, 5, 6, 15, 16);
ANALYZE events;

-- The view `conv_messages`: reactions as rows of a message index.
CREATE VIEW conv_messages WITH (security_invoker = true) AS
SELECT
    p.tenant, p.project, u.id AS user_id, c.id AS conversation_id, t.id AS turn_id,
    'artifact' AS role,
    array_remove(ARRAY['artifact:turn.log.reaction', 'turn:' || t.id,
        'origin:' || CASE r.origin WHEN 1 THEN 'user' ELSE 'machine' END, 'track:' || t.track], NULL) AS tags,
    t.track AS track_id, t.bundle AS bundle_id,
    '[turn.log.reaction] ' || json_build_object(
        'turn_id', t.id,
        'text', coalesce(json_extract(e.data, '$.text'), json_extract(e.data, '$.comment')),
        'confidence', r.confidence,
        'reaction', CASE r.reaction WHEN 1 THEN 'ok' WHEN 2 THEN 'not_ok' ELSE 'neutral' END,
        'origin', CASE r.origin WHEN 1 THEN 'user' ELSE 'machine' END) AS text,
    'uptake:event:' || r.position AS hosted_uri,
    to_timestamp(r.ts / 1000000.0) AS ts, CAST(NULL AS BYTEA) AS embedding
FROM reactions r
JOIN projects p ON p.key = r.project
JOIN turns t ON t.key = r.turn
LEFT JOIN events e ON e.position = r.position
LEFT JOIN users u ON u.key = r."user"
LEFT JOIN conversations c ON c.key = r.conversation;

-- The view `implicit_feedback`: the detected signals of each answer.
CREATE VIEW implicit_feedback WITH (security_invoker = true) AS
SELECT
    'uptake:event:' || a.position AS id,
    p.tenant, p.project,
    t.id AS query_id,
    coalesce(json_extract(d.data, '$.model'), 'unknown') AS model_id,
    to_timestamp(a.ts / 1000000.0) AS timestamp,
    json_extract(a.data, '$.error.error_type') IS NOT NULL AS error_occurred,
    json_extract(a.data, '$.error.error_type') AS error_type,
    CAST(CAST(a.data AS json) #>> '{latency,seconds}' AS DOUBLE PRECISION) AS latency_seconds,
    coalesce(CAST(CAST(a.data AS json) #>> '{latency,accepted}' AS BOOLEAN), TRUE) AS latency_accepted,
    json_extract(a.data, '$.latency.tolerance') AS latency_tolerance,
    r.position IS NOT NULL AS retry_detected,
    CAST(CAST(r.data AS json) #>> '{delay_seconds}' AS DOUBLE PRECISION) AS retry_delay_seconds,
    CAST(CAST(r.data AS json) #>> '{similarity}' AS DOUBLE PRECISION) AS similarity_score,
    o.id AS original_query_id,
    to_timestamp(a.received_at / 1000000.0) AS created_at
FROM turns t
JOIN projects p ON p.key = t.project
JOIN events d ON d.position = t.completed
-- The findings of an answer directly follow it in the log; a retry directly follows its question.
JOIN events a ON a.position BETWEEN t.completed + 1 AND t.completed + 8
    AND a.turn = t.key AND json_extract(a.data, '$.finding') = 'answer'
LEFT JOIN events r ON r.position BETWEEN t.opened + 1 AND t.opened + 8
    AND json_extract(r.data, '$.finding') = 'retry' AND json_extract(r.data, '$.detected_in') = t.id
LEFT JOIN turns o ON o.key = r.turn;

-- The reader's role sees them as before.
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'uptake_read') THEN
        CREATE POLICY one_tenant ON events FOR SELECT TO uptake_read
            USING (project = ANY (CAST((SELECT projects_of_reader()) AS BIGINT[])));
        GRANT SELECT ON events, conv_messages, implicit_feedback TO uptake_read;
    END IF;
END $$;

-- SQL access for people: views for reports, and a role that sees one tenant.

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

-- Row-level security: a member of `uptake_read` sees only the tenants that this table lists for the login,
-- regardless of the statement and of session settings. Only the owner writes it.
CREATE TABLE readers (
    role   TEXT NOT NULL, -- the login
    tenant TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (role, tenant)
);
REVOKE ALL ON readers FROM PUBLIC;

-- A database user who may not create roles needs this role to exist before the first start.
DO $$
DECLARE
    name TEXT;
BEGIN
    -- Uses the login, which a session cannot change, unlike the role or a setting. Uses the tables of this
    -- schema, regardless of the reader's search_path.
    EXECUTE format('CREATE FUNCTION tenants_of_reader() RETURNS TEXT[] LANGUAGE sql STABLE
        SECURITY DEFINER SET search_path = %1$I, pg_temp AS
        $f$ SELECT ARRAY(SELECT tenant FROM %1$I.readers WHERE role = session_user) $f$', current_schema());
    EXECUTE format('CREATE FUNCTION projects_of_reader() RETURNS BIGINT[] LANGUAGE sql STABLE
        SECURITY DEFINER SET search_path = %1$I, pg_temp AS
        $f$ SELECT ARRAY(SELECT key FROM %1$I.projects p JOIN %1$I.readers r ON r.tenant = p.tenant
            WHERE r.role = session_user) $f$', current_schema());
    REVOKE ALL ON FUNCTION tenants_of_reader(), projects_of_reader() FROM PUBLIC;
    BEGIN
        CREATE ROLE uptake_read NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
        NULL;
    END;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'uptake_read') THEN
        RAISE WARNING 'there is no role uptake_read; docs/scaling.md says how to make it';
        RETURN;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO uptake_read', current_schema());
    GRANT EXECUTE ON FUNCTION tenants_of_reader(), projects_of_reader() TO uptake_read;
    -- A scalar subquery runs once per statement, not once per row.
    ALTER TABLE projects ENABLE ROW LEVEL SECURITY;
    CREATE POLICY one_tenant ON projects FOR SELECT TO uptake_read
        USING (tenant = ANY (CAST((SELECT tenants_of_reader()) AS TEXT[])));
    GRANT SELECT ON projects, conv_messages, implicit_feedback TO uptake_read;
    FOREACH name IN ARRAY ARRAY['users', 'conversations', 'turns', 'events', 'reactions', 'turn_index',
        'turn_facts', 'quality', 'quality_days', 'waits', 'waits_days', 'decisions', 'activity', 'alerts',
        'routers', 'experiments',
        'returned', 'relevance', 'entity_tallies', 'pair_tallies', 'rank_totals']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I FOR SELECT TO uptake_read
            USING (project = ANY (CAST((SELECT projects_of_reader()) AS BIGINT[])))', name);
        EXECUTE format('GRANT SELECT ON %I TO uptake_read', name);
    END LOOP;
END $$;

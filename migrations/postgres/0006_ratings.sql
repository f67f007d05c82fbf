-- Ratings with stars and decisions without an outcome are read from the log again.
INSERT INTO meta (name, value)
SELECT 'stale_projections', CAST('\x01' AS BYTEA) WHERE EXISTS (SELECT FROM events) ON CONFLICT (name) DO NOTHING;

-- A user's rating of a turn on a scale from 0 to 1. Several users count by their mean.
ALTER TABLE reactions ADD COLUMN rating DOUBLE PRECISION NOT NULL DEFAULT 0.5;
UPDATE reactions SET rating = CASE reaction WHEN 1 THEN 1.0 WHEN 2 THEN 0.0 ELSE 0.5 END;
ALTER TABLE baseline_reactions ADD COLUMN rating DOUBLE PRECISION NOT NULL DEFAULT 0.5;
UPDATE baseline_reactions SET rating = CASE reaction WHEN 1 THEN 1.0 WHEN 2 THEN 0.0 ELSE 0.5 END;

-- Reactions of users, counted in the hour and day in which they were given.
CREATE TABLE reacted (
    project  BIGINT NOT NULL,
    hour     BIGINT NOT NULL,
    model    TEXT COLLATE "C" NOT NULL,
    prompt   TEXT COLLATE "C" NOT NULL,
    reaction BIGINT NOT NULL,
    count    BIGINT NOT NULL,
    PRIMARY KEY (project, hour, model, prompt, reaction)
);
CREATE TABLE baseline_reacted AS SELECT * FROM reacted WHERE FALSE;

CREATE TABLE reacted_days (
    project  BIGINT NOT NULL,
    day      BIGINT NOT NULL,
    model    TEXT COLLATE "C" NOT NULL,
    prompt   TEXT COLLATE "C" NOT NULL,
    reaction BIGINT NOT NULL,
    count    BIGINT NOT NULL,
    PRIMARY KEY (project, day, model, prompt, reaction)
);
CREATE TABLE baseline_reacted_days AS SELECT * FROM reacted_days WHERE FALSE;

-- Existing reactions are counted from their rows, in the projections and in the baseline.
INSERT INTO reacted
SELECT r.project, (r.ts - (r.ts % 3600000000 + 3600000000) % 3600000000) / 3600000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM reactions r LEFT JOIN turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

INSERT INTO reacted_days
SELECT r.project, (r.ts - (r.ts % 86400000000 + 86400000000) % 86400000000) / 86400000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM reactions r LEFT JOIN turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

INSERT INTO baseline_reacted
SELECT r.project, (r.ts - (r.ts % 3600000000 + 3600000000) % 3600000000) / 3600000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM baseline_reactions r LEFT JOIN baseline_turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

INSERT INTO baseline_reacted_days
SELECT r.project, (r.ts - (r.ts % 86400000000 + 86400000000) % 86400000000) / 86400000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM baseline_reactions r LEFT JOIN baseline_turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

-- The reader's role sees the new tables like the others.
DO $$
DECLARE name TEXT;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'uptake_read') THEN
        RETURN;
    END IF;
    FOREACH name IN ARRAY ARRAY['reacted', 'reacted_days'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I FOR SELECT TO uptake_read
            USING (project = ANY (CAST((SELECT projects_of_reader()) AS BIGINT[])))', name);
        EXECUTE format('GRANT SELECT ON %I TO uptake_read', name);
    END LOOP;
END $$;

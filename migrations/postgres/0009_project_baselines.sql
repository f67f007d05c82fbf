-- The baseline of each project: `baseline_*` hold the effects of its events up to this position, so those events may
-- be dropped. A rebuild starts from it and replays the project's later events. A project without a row has none.
CREATE TABLE baselines (
    project  BIGINT PRIMARY KEY,
    position BIGINT NOT NULL
);
INSERT INTO baselines (project, position)
SELECT p.key, CAST(CAST('x' || encode(m.value, 'hex') AS BIT(64)) AS BIGINT)
FROM projects p CROSS JOIN meta m WHERE m.name = 'baseline_position';
DELETE FROM meta WHERE name = 'baseline_position';
-- An older program that still runs would write its snapshot into `baseline_*`. This makes it fail instead.
ALTER TABLE meta ADD CONSTRAINT baselines_are_per_project CHECK (name <> 'baseline_position');

-- Verdicts of no message on no turn have no effect and belong to no project.
DELETE FROM verdicts WHERE turn IS NULL AND detected_in IS NULL;
DELETE FROM baseline_verdicts WHERE turn IS NULL AND detected_in IS NULL;

-- Each `baseline_*` table gets the definition of its projection, since events are applied to both.
DO $$
DECLARE
    name TEXT;
    names TEXT;
    key TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['turns', 'reactions', 'activity', 'newest', 'decisions', 'early_outcomes', 'privacy',
        'profiles', 'verdicts', 'turn_index', 'turn_vectors', 'open_sessions', 'calibrations', 'routers', 'returned',
        'relevance', 'entity_tallies', 'pair_tallies', 'rank_totals', 'targets', 'alerts', 'turn_facts', 'quality',
        'quality_days', 'waits', 'waits_days', 'reacted', 'reacted_days', 'experiments', 'experiment_moves',
        'experiment_units', 'experiment_turns', 'experiment_measures', 'experiment_sums', 'experiment_days']
    LOOP
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO names
        FROM pg_attribute WHERE attrelid = CAST(name AS regclass) AND attnum > 0 AND NOT attisdropped;
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.place) INTO key
        FROM pg_index i CROSS JOIN unnest(CAST(i.indkey AS INT2[])) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
        WHERE i.indrelid = CAST(name AS regclass) AND i.indisprimary;
        EXECUTE format('ALTER TABLE %I RENAME TO older_baseline', 'baseline_' || name);
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', 'baseline_' || name, name);
        EXECUTE format('INSERT INTO %I (%s) SELECT %s FROM older_baseline', 'baseline_' || name, names, names);
        DROP TABLE older_baseline;
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (%s)', 'baseline_' || name, key);
    END LOOP;
END $$;

-- The indexes that changes need.
CREATE UNIQUE INDEX baseline_turns_by_id ON baseline_turns (project, id);
CREATE INDEX baseline_turns_by_user ON baseline_turns ("user") WHERE "user" IS NOT NULL;
CREATE INDEX baseline_turns_by_conversation ON baseline_turns (conversation, ts) WHERE conversation IS NOT NULL;
CREATE INDEX baseline_reactions_by_turn ON baseline_reactions (turn, origin, "user");
CREATE INDEX baseline_reactions_by_conversation ON baseline_reactions (conversation, origin, reaction, ts)
    WHERE conversation IS NOT NULL;
CREATE INDEX baseline_reactions_by_message ON baseline_reactions (detected_in) WHERE detected_in IS NOT NULL;
CREATE INDEX baseline_verdicts_by_turn ON baseline_verdicts (turn) WHERE turn IS NOT NULL;
CREATE UNIQUE INDEX baseline_verdicts_by_message ON baseline_verdicts (detected_in) WHERE detected_in IS NOT NULL;
CREATE INDEX baseline_turn_facts_by_user ON baseline_turn_facts ("user", ts)
    WHERE "user" IS NOT NULL AND ts IS NOT NULL;
CREATE INDEX baseline_alerts_by_project ON baseline_alerts (project, metric);
CREATE UNIQUE INDEX baseline_experiments_by_id ON baseline_experiments (project, id);
CREATE INDEX baseline_experiment_units_now ON baseline_experiment_units (unit, kind) WHERE current = 1;

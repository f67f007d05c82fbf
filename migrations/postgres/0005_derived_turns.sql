-- Halves of a turn that were quoted in feedback. The turn's own halves replace them.
ALTER TABLE turns ADD COLUMN opened_derived BIGINT NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN completed_derived BIGINT NOT NULL DEFAULT 0;
ALTER TABLE baseline_turns ADD COLUMN opened_derived BIGINT NOT NULL DEFAULT 0;
ALTER TABLE baseline_turns ADD COLUMN completed_derived BIGINT NOT NULL DEFAULT 0;

-- Measurements and errors that the application reports beside its turns.
ALTER TABLE turn_facts ADD COLUMN measured_ts BIGINT;
ALTER TABLE baseline_turn_facts ADD COLUMN measured_ts BIGINT;
ALTER TABLE quality ADD COLUMN loose_failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE quality_days ADD COLUMN loose_failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN loose_failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality_days ADD COLUMN loose_failed BIGINT NOT NULL DEFAULT 0;

-- Detected refinements and reported abandonments count; they are counted again from the log.
INSERT INTO meta (name, value)
SELECT 'stale_projections', '\x01'::BYTEA WHERE EXISTS (SELECT 1 FROM events)
ON CONFLICT (name) DO NOTHING;

-- The language of a turn's question, for lists. NULL when unknown.
ALTER TABLE turn_index ADD COLUMN language BIGINT;
ALTER TABLE baseline_turn_index ADD COLUMN language BIGINT;

-- Languages of older turns are detected again from the log.
INSERT INTO meta (name, value)
SELECT 'stale_projections', CAST('\x01' AS BYTEA) WHERE EXISTS (SELECT FROM events) ON CONFLICT (name) DO NOTHING;

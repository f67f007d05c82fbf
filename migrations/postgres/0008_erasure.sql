-- Early outcomes are read from the log, and latencies of turns without an answer are counted again.
INSERT INTO meta (name, value)
SELECT 'stale_projections', CAST('\x01' AS BYTEA) WHERE EXISTS (SELECT FROM events) ON CONFLICT (name) DO NOTHING;

-- Erasure finds early outcomes and reports on queries, which name no user. All writes wait for it.
CREATE INDEX returned_by_position ON returned (position);
CREATE INDEX decisions_by_made ON decisions (made) WHERE made IS NOT NULL;

-- Outcomes that name nothing but their decision, because they arrived before it.
CREATE TABLE early_outcomes (
    project  BIGINT NOT NULL,
    id       TEXT COLLATE "C" NOT NULL, -- of the decision
    position BIGINT NOT NULL,
    PRIMARY KEY (project, id, position)
);
CREATE TABLE baseline_early_outcomes AS SELECT * FROM early_outcomes WHERE FALSE;

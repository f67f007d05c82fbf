-- Latencies of turns without an answer are counted again.
INSERT INTO meta (name, value)
SELECT 'stale_projections', CAST('\x01' AS BYTEA) WHERE EXISTS (SELECT FROM events) ON CONFLICT (name) DO NOTHING;

-- Erasure finds reports on queries, which name no user. All writes wait for it.
CREATE INDEX returned_by_position ON returned (position);

-- Separate sums for feedback without a turn: each adds one answer or question that was not reported.
-- The sums of an existing store are rebuilt from its log.
ALTER TABLE quality ADD COLUMN loose_corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quality ADD COLUMN loose_refined INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN loose_corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN loose_refined INTEGER NOT NULL DEFAULT 0;

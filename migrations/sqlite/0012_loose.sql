-- What is said of answers that nobody reported has sums of its own: each is one more answer, or question,
-- than was seen. The sums of an older store are made again from its log.
ALTER TABLE quality ADD COLUMN loose_corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quality ADD COLUMN loose_refined INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN loose_corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN loose_refined INTEGER NOT NULL DEFAULT 0;

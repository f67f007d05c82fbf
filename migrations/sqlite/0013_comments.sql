-- The sentiment of comments, counted per turn and in the sums.
ALTER TABLE turn_facts ADD COLUMN comments_positive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn_facts ADD COLUMN comments_negative INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn_facts ADD COLUMN comments_neutral INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_turn_facts ADD COLUMN comments_positive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_turn_facts ADD COLUMN comments_negative INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_turn_facts ADD COLUMN comments_neutral INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quality ADD COLUMN comments_positive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quality ADD COLUMN comments_negative INTEGER NOT NULL DEFAULT 0;
ALTER TABLE quality ADD COLUMN comments_neutral INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN comments_positive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN comments_negative INTEGER NOT NULL DEFAULT 0;
ALTER TABLE baseline_quality ADD COLUMN comments_neutral INTEGER NOT NULL DEFAULT 0;

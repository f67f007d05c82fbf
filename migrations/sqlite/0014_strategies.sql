-- The strategy of each turn, so that a failure pattern can be compared with all answers of the
-- same period.
ALTER TABLE turn_facts ADD COLUMN strategy TEXT NOT NULL DEFAULT '';
ALTER TABLE baseline_turn_facts ADD COLUMN strategy TEXT NOT NULL DEFAULT '';

-- A covering index for counts, without turns that have no strategy.
CREATE INDEX turn_facts_by_strategy ON turn_facts (project, ts, strategy, model, prompt)
    WHERE strategy <> '' AND answered = 1;

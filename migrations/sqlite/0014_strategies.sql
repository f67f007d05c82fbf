-- Which strategy a turn was answered by, so that a pattern of failures can be compared with all
-- answers of the same time.
ALTER TABLE turn_facts ADD COLUMN strategy TEXT NOT NULL DEFAULT '';
ALTER TABLE baseline_turn_facts ADD COLUMN strategy TEXT NOT NULL DEFAULT '';

-- Counted out of the index alone; turns without a strategy are not in it.
CREATE INDEX turn_facts_by_strategy ON turn_facts (project, ts, strategy, model, prompt)
    WHERE strategy <> '' AND answered = 1;

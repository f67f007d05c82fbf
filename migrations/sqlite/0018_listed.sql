-- Turns by the time of their question, for the conversation list.
CREATE INDEX turn_facts_by_time ON turn_facts (project, ts) WHERE ts IS NOT NULL;

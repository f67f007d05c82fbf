-- Turns by when they were asked, for the list of conversations.
CREATE INDEX turn_facts_by_time ON turn_facts (project, ts) WHERE ts IS NOT NULL;

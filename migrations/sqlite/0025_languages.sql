-- The language of a turn's question, for lists. NULL when unknown.
ALTER TABLE turn_index ADD COLUMN language INTEGER;
ALTER TABLE baseline_turn_index ADD COLUMN language INTEGER;

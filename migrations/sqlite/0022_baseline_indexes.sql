-- Everybody's writes wait for an erasure: it finds what the copy has of a user without reading all of it.
CREATE INDEX IF NOT EXISTS baseline_turn_facts_by_turn ON baseline_turn_facts (turn);
CREATE INDEX IF NOT EXISTS baseline_profiles_by_user ON baseline_profiles (user);

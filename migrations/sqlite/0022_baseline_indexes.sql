-- All writes wait for an erasure, so it finds a user's rows in the baseline by an index.
CREATE INDEX IF NOT EXISTS baseline_turn_facts_by_turn ON baseline_turn_facts (turn);
CREATE INDEX IF NOT EXISTS baseline_profiles_by_user ON baseline_profiles (user);

-- The baseline: the projections at `baseline_position` (in meta), copied before old events are dropped.
-- A rebuild starts from it and replays later events.
CREATE TABLE baseline_turns AS SELECT * FROM turns WHERE FALSE;
CREATE TABLE baseline_reactions AS SELECT * FROM reactions WHERE FALSE;
CREATE TABLE baseline_activity AS SELECT * FROM activity WHERE FALSE;
CREATE TABLE baseline_newest AS SELECT * FROM newest WHERE FALSE;
CREATE TABLE baseline_decisions AS SELECT * FROM decisions WHERE FALSE;
CREATE TABLE baseline_privacy AS SELECT * FROM privacy WHERE FALSE;
CREATE TABLE baseline_profiles AS SELECT * FROM profiles WHERE FALSE;
CREATE INDEX baseline_turns_by_key ON baseline_turns (key);

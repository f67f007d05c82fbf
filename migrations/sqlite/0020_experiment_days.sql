-- The sums of an experiment at the end of each day, for the confidence sequence. A projection of the log: each
-- row is the row of experiment_sums after its last change on that day.
CREATE TABLE experiment_days (
    experiment INTEGER NOT NULL,
    day        INTEGER NOT NULL, -- day since 1970, by the time of arrival
    variant    INTEGER NOT NULL,
    moves      INTEGER NOT NULL,
    exposed    INTEGER NOT NULL,
    sums       BLOB NOT NULL,
    PRIMARY KEY (experiment, day, variant, moves)
) WITHOUT ROWID;

CREATE TABLE baseline_experiment_days AS SELECT * FROM experiment_days WHERE FALSE;

-- Page sessions that were ended before their expiry, until they expire. Like keys, not part of the log.
CREATE TABLE ended_visits (
    id    TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;

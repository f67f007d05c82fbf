-- What the units of an experiment added up to at the end of each day, so that one sees how sure one was when.
-- A projection of the log: a row is the one of experiment_sums as it was when it last changed on that day.
CREATE TABLE experiment_days (
    experiment INTEGER NOT NULL,
    day        INTEGER NOT NULL, -- since 1970, by when we heard of it
    variant    INTEGER NOT NULL,
    moves      INTEGER NOT NULL,
    exposed    INTEGER NOT NULL,
    sums       BLOB NOT NULL,
    PRIMARY KEY (experiment, day, variant, moves)
) WITHOUT ROWID;

CREATE TABLE baseline_experiment_days AS SELECT * FROM experiment_days WHERE FALSE;

-- Visits of the page that were ended before their time, until that is over. No part of the log, as keys are none.
CREATE TABLE ended_visits (
    id    TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;

-- Sums by day beside those by hour, so that a long period is as quick to read as a short one. Days are
-- counted from 1970, like hours.
CREATE TABLE quality_days (
    project           INTEGER NOT NULL,
    day               INTEGER NOT NULL,
    model             TEXT NOT NULL,
    prompt            TEXT NOT NULL,
    turns             INTEGER NOT NULL,
    answered          INTEGER NOT NULL,
    failed            INTEGER NOT NULL,
    ok                INTEGER NOT NULL,
    not_ok            INTEGER NOT NULL,
    neutral           INTEGER NOT NULL,
    accepted          INTEGER NOT NULL,
    rejected          INTEGER NOT NULL,
    wrong             INTEGER NOT NULL,
    corrected         INTEGER NOT NULL,
    retried           INTEGER NOT NULL,
    heard             INTEGER NOT NULL,
    both              INTEGER NOT NULL,
    agree             INTEGER NOT NULL,
    refined           INTEGER NOT NULL,
    ended             INTEGER NOT NULL,
    abandoned         INTEGER NOT NULL,
    tokens            INTEGER NOT NULL,
    cost              INTEGER NOT NULL,
    sql_made          INTEGER NOT NULL,
    sql_executed      INTEGER NOT NULL,
    loose_corrected   INTEGER NOT NULL,
    loose_refined     INTEGER NOT NULL,
    comments_positive INTEGER NOT NULL,
    comments_negative INTEGER NOT NULL,
    comments_neutral  INTEGER NOT NULL,
    PRIMARY KEY (project, day, model, prompt)
) WITHOUT ROWID;

CREATE TABLE waits_days (
    project INTEGER NOT NULL,
    day     INTEGER NOT NULL,
    model   TEXT NOT NULL,
    prompt  TEXT NOT NULL,
    step    INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (project, day, model, prompt, step)
) WITHOUT ROWID;

CREATE TABLE baseline_quality_days AS SELECT * FROM quality_days WHERE FALSE;
CREATE TABLE baseline_waits_days AS SELECT * FROM waits_days WHERE FALSE;

-- Existing stores compute them from their hourly sums, in the projections and in the baseline.
INSERT INTO quality_days (project, day, model, prompt,
    turns, answered, failed, ok, not_ok, neutral, accepted, rejected, wrong, corrected, retried,
    heard, both, agree, refined, ended, abandoned, tokens, cost, sql_made, sql_executed,
    loose_corrected, loose_refined, comments_positive, comments_negative, comments_neutral)
SELECT project, (hour - (hour % 24 + 24) % 24) / 24, model, prompt,
    sum(turns), sum(answered), sum(failed), sum(ok), sum(not_ok), sum(neutral), sum(accepted),
    sum(rejected), sum(wrong), sum(corrected), sum(retried), sum(heard), sum(both), sum(agree),
    sum(refined), sum(ended), sum(abandoned), sum(tokens), sum(cost), sum(sql_made),
    sum(sql_executed), sum(loose_corrected), sum(loose_refined), sum(comments_positive),
    sum(comments_negative), sum(comments_neutral)
FROM quality GROUP BY 1, 2, 3, 4;

INSERT INTO waits_days (project, day, model, prompt, step, count)
SELECT project, (hour - (hour % 24 + 24) % 24) / 24, model, prompt, step, sum(count)
FROM waits GROUP BY 1, 2, 3, 4, 5;

INSERT INTO baseline_quality_days (project, day, model, prompt,
    turns, answered, failed, ok, not_ok, neutral, accepted, rejected, wrong, corrected, retried,
    heard, both, agree, refined, ended, abandoned, tokens, cost, sql_made, sql_executed,
    loose_corrected, loose_refined, comments_positive, comments_negative, comments_neutral)
SELECT project, (hour - (hour % 24 + 24) % 24) / 24, model, prompt,
    sum(turns), sum(answered), sum(failed), sum(ok), sum(not_ok), sum(neutral), sum(accepted),
    sum(rejected), sum(wrong), sum(corrected), sum(retried), sum(heard), sum(both), sum(agree),
    sum(refined), sum(ended), sum(abandoned), sum(tokens), sum(cost), sum(sql_made),
    sum(sql_executed), sum(loose_corrected), sum(loose_refined), sum(comments_positive),
    sum(comments_negative), sum(comments_neutral)
FROM baseline_quality GROUP BY 1, 2, 3, 4;

INSERT INTO baseline_waits_days (project, day, model, prompt, step, count)
SELECT project, (hour - (hour % 24 + 24) % 24) / 24, model, prompt, step, sum(count)
FROM baseline_waits GROUP BY 1, 2, 3, 4, 5;

-- Reactions of users, newest first, for the calibration of confidences.
CREATE INDEX reactions_of_users ON reactions (project, position) WHERE origin = 1;

-- A user's rating of a turn on a scale from 0 to 1. Several users count by their mean.
ALTER TABLE reactions ADD COLUMN rating REAL NOT NULL DEFAULT 0.5;
UPDATE reactions SET rating = CASE reaction WHEN 1 THEN 1.0 WHEN 2 THEN 0.0 ELSE 0.5 END;
ALTER TABLE baseline_reactions ADD COLUMN rating REAL NOT NULL DEFAULT 0.5;
UPDATE baseline_reactions SET rating = CASE reaction WHEN 1 THEN 1.0 WHEN 2 THEN 0.0 ELSE 0.5 END;

-- Reactions of users, counted in the hour and day in which they were given.
CREATE TABLE reacted (
    project  INTEGER NOT NULL,
    hour     INTEGER NOT NULL,
    model    TEXT NOT NULL,
    prompt   TEXT NOT NULL,
    reaction INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (project, hour, model, prompt, reaction)
) WITHOUT ROWID;
CREATE TABLE baseline_reacted AS SELECT * FROM reacted WHERE FALSE;

CREATE TABLE reacted_days (
    project  INTEGER NOT NULL,
    day      INTEGER NOT NULL,
    model    TEXT NOT NULL,
    prompt   TEXT NOT NULL,
    reaction INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (project, day, model, prompt, reaction)
) WITHOUT ROWID;
CREATE TABLE baseline_reacted_days AS SELECT * FROM reacted_days WHERE FALSE;

-- Existing reactions are counted from their rows, in the projections and in the baseline.
INSERT INTO reacted
SELECT r.project, (r.ts - (r.ts % 3600000000 + 3600000000) % 3600000000) / 3600000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM reactions r LEFT JOIN turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

INSERT INTO reacted_days
SELECT r.project, (r.ts - (r.ts % 86400000000 + 86400000000) % 86400000000) / 86400000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM reactions r LEFT JOIN turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

INSERT INTO baseline_reacted
SELECT r.project, (r.ts - (r.ts % 3600000000 + 3600000000) % 3600000000) / 3600000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM baseline_reactions r LEFT JOIN baseline_turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

INSERT INTO baseline_reacted_days
SELECT r.project, (r.ts - (r.ts % 86400000000 + 86400000000) % 86400000000) / 86400000000,
    coalesce(f.model, ''), coalesce(f.prompt, ''), r.reaction, count(*)
FROM baseline_reactions r LEFT JOIN baseline_turn_facts f ON f.turn = r.turn
WHERE r.origin = 1 AND r.conversation IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

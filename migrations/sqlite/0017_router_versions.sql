-- Several nodes keep what routers have learnt in one place: each time has a number, and who did not see
-- the latest one looks again before it keeps its own.
CREATE TABLE router_progress_next (
    project  INTEGER PRIMARY KEY,
    version  INTEGER NOT NULL, -- grows each time
    forgets  INTEGER NOT NULL, -- how often something was taken out, which does not follow from the log
    position INTEGER           -- empty when nothing is kept
);
INSERT INTO router_progress_next (project, version, forgets, position)
SELECT project, 1, 0, position FROM router_progress;
DROP TABLE router_progress;
ALTER TABLE router_progress_next RENAME TO router_progress;

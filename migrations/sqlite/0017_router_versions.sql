-- Versions of router checkpoints. A node that has not loaded the newest version loads it before it saves its
-- own.
CREATE TABLE router_progress_next (
    project  INTEGER PRIMARY KEY,
    version  INTEGER NOT NULL, -- grows each time
    forgets  INTEGER NOT NULL, -- number of erasures, which do not follow from the log
    position INTEGER           -- empty when nothing is kept
);
INSERT INTO router_progress_next (project, version, forgets, position)
SELECT project, 1, 0, position FROM router_progress;
DROP TABLE router_progress;
ALTER TABLE router_progress_next RENAME TO router_progress;

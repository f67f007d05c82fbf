-- A store as the first schema that is still read wrote it (0001 to 0005): made by the program of that time through its API,
-- then written out by sqlite3's .dump. Never change it: it stands for stores that people have.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES('seal_key',X'cff7b3daa6b7204350de1dbddfe5528a00684ea84a57af5f0d15a717d315854c');
CREATE TABLE projects (
    key     INTEGER PRIMARY KEY,
    tenant  TEXT NOT NULL,
    project TEXT NOT NULL,
    UNIQUE (tenant, project)
);
INSERT INTO projects VALUES(1,'default','default');
INSERT INTO projects VALUES(2,'acme','default');
CREATE TABLE users (
    key     INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (key),
    id      TEXT,
    erased  INTEGER, -- the position of the event that says so
    UNIQUE (project, id)
);
INSERT INTO users VALUES(1,1,'ann',NULL);
INSERT INTO users VALUES(2,1,'bob',NULL);
INSERT INTO users VALUES(3,1,NULL,27);
CREATE TABLE conversations (
    key     INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (key),
    id      TEXT NOT NULL,
    UNIQUE (project, id)
);
INSERT INTO conversations VALUES(1,1,'c1');
INSERT INTO conversations VALUES(2,1,'c2');
INSERT INTO conversations VALUES(3,1,'c3');
INSERT INTO conversations VALUES(4,1,'01a1e23e-ee04-7eac-8b6d-097e4594a55c');
CREATE TABLE turns (
    key          INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL REFERENCES projects (key),
    id           TEXT NOT NULL,
    conversation INTEGER REFERENCES conversations (key),
    user         INTEGER REFERENCES users (key),
    ts           INTEGER,
    opened       INTEGER,
    completed    INTEGER,
    track        TEXT,
    bundle       TEXT,
    user_type    TEXT,
    UNIQUE (project, id)
);
INSERT INTO turns VALUES(1,1,'t1',2,1,1794797137055347,2,3,'track-a','b1',NULL);
INSERT INTO turns VALUES(2,1,'t2',1,1,1794797137121474,4,5,'track-a','b1',NULL);
INSERT INTO turns VALUES(3,1,'t3',2,1,1794797137179451,6,7,'track-a','b1',NULL);
INSERT INTO turns VALUES(4,1,'t4',1,1,1794797137222131,8,9,'track-a','b1',NULL);
INSERT INTO turns VALUES(5,1,'t5',1,2,1794797137232370,10,11,NULL,NULL,NULL);
INSERT INTO turns VALUES(6,1,'t6',3,3,1794797137250413,12,NULL,NULL,NULL,NULL);
INSERT INTO turns VALUES(7,1,'never-opened',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO turns VALUES(8,2,'a1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO turns VALUES(9,1,'k1',4,NULL,1794797137412652,26,NULL,NULL,NULL,NULL);
CREATE TABLE events (
    position     INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL REFERENCES projects (key),
    type         INTEGER NOT NULL,
    source       INTEGER NOT NULL,
    severity     INTEGER NOT NULL,
    category     INTEGER NOT NULL,
    id           BLOB NOT NULL,
    user         INTEGER REFERENCES users (key),
    conversation INTEGER REFERENCES conversations (key),
    turn         INTEGER REFERENCES turns (key),
    ts           INTEGER NOT NULL,
    received_at  INTEGER NOT NULL,
    tags         TEXT,
    data         TEXT NOT NULL
);
INSERT INTO events VALUES(1,1,9,4,2,1,'rating-early',1,1,1,1794797136930225,1794797136930225,NULL,'{"comment":"good one","rating":"positive"}');
INSERT INTO events VALUES(2,1,4,15,2,6,X'01a1e23eec9f78f7befb891e6be57413',1,2,1,1794797137055347,1794797137055347,NULL,'{"bundle_id":"b1","phase":"opened","text":"What is order 1 worth?","track_id":"track-a"}');
INSERT INTO events VALUES(3,1,4,15,2,6,X'01a1e23eeca77d51ad89267a92665f9f',1,2,1,1794797137063687,1794797137063687,NULL,'{"model":"m1","phase":"completed","response":"Order 1 is worth 42.","status":"success"}');
INSERT INTO events VALUES(4,1,4,15,2,6,X'01a1e23eece17538a86c6c91d8ad7342',1,1,2,1794797137121474,1794797137121474,NULL,'{"bundle_id":"b1","phase":"opened","text":"What is order 2 worth?","track_id":"track-a"}');
INSERT INTO events VALUES(5,1,4,15,2,6,X'01a1e23eece97bf58f0e3616ea31027b',1,1,2,1794797137129231,1794797137129231,NULL,'{"model":"m1","phase":"completed","response":"Order 2 is worth 42.","status":"success"}');
INSERT INTO events VALUES(6,1,4,15,2,6,X'01a1e23eed1b7dad9ef909e22c8bb25c',1,2,3,1794797137179451,1794797137179451,NULL,'{"bundle_id":"b1","phase":"opened","text":"What is order 3 worth?","track_id":"track-a"}');
INSERT INTO events VALUES(7,1,4,15,2,6,X'01a1e23eed1d70758be3bcf0e3805bd6',1,2,3,1794797137181380,1794797137181380,NULL,'{"model":"m1","phase":"completed","response":"Order 3 is worth 42.","status":"success"}');
INSERT INTO events VALUES(8,1,4,15,2,6,X'01a1e23eed4675228de492d6300f7454',1,1,4,1794797137222131,1794797137222131,NULL,'{"bundle_id":"b1","phase":"opened","text":"What is order 4 worth?","track_id":"track-a"}');
INSERT INTO events VALUES(9,1,4,15,2,6,X'01a1e23eed47764292134c2d62680ef7',1,1,4,1794797137223125,1794797137223125,NULL,'{"model":"m1","phase":"completed","response":"Order 4 is worth 42.","status":"success"}');
INSERT INTO events VALUES(10,1,4,15,2,6,X'01a1e23eed507dab8ff9bdc9076ac594',2,1,5,1794797137232370,1794797137232370,NULL,'{"phase":"opened","text":"And in total?"}');
INSERT INTO events VALUES(11,1,4,15,2,6,X'01a1e23eed59748a8158cda250b476d4',2,1,5,1794797137241579,1794797137241579,NULL,'{"latency_ms":900.0,"phase":"completed","response":"In total 168.","status":"success"}');
INSERT INTO events VALUES(12,1,4,15,2,6,X'01a1e23eed6272a5a30c9fb2e2c72edf',3,3,6,1794797137250413,1794797137250413,NULL,'{"phase":"opened","text":""}');
INSERT INTO events VALUES(13,1,9,16,2,5,X'01a1e23eed6b78f8beec3ccb088f7fd4',1,2,1,1794797137259718,1794797137259718,NULL,'{"confidence":1.0,"origin":"user","reaction":"ok","text":"fine"}');
INSERT INTO events VALUES(14,1,9,16,2,5,X'01a1e23eed747ff7828aa7e21cf671ba',1,2,1,1794797137268728,1794797137268728,NULL,'{"confidence":1.0,"origin":"user","reaction":"not_ok","text":"no, after all"}');
INSERT INTO events VALUES(15,1,10,16,2,5,X'01a1e23eed7d75dda916680471bb1da9',1,1,2,1794797137277922,1794797137277922,NULL,'{"confidence":0.812345678901234,"origin":"machine","reaction":"ok"}');
INSERT INTO events VALUES(16,1,9,16,2,5,X'01a1e23eed87732f8454fc8e3800b0e8',2,1,4,1794797137287127,1794797137287127,NULL,'{"confidence":1.0,"origin":"user","reaction":"neutral"}');
INSERT INTO events VALUES(17,1,9,16,2,5,X'01a1e23eed907aa0ab498512c2aff8c1',3,3,6,1794797137296745,1794797137296745,NULL,'{"confidence":1.0,"origin":"user","reaction":"not_ok"}');
INSERT INTO events VALUES(18,1,9,6,2,1,X'01a1e23eed99710ea8734d4adcdcda91',1,NULL,2,1794797137305391,1794797137305391,NULL,'{"corrected_sql":"SELECT 2","original_sql":"SELECT 1"}');
INSERT INTO events VALUES(19,1,9,4,2,6,'loose',NULL,NULL,7,1794797137336608,1794797137336608,NULL,'{"rating":2}');
INSERT INTO events VALUES(20,1,1,1,2,6,'b1',NULL,NULL,NULL,1794797137354955,1794797137354955,NULL,'{"text":"one"}');
INSERT INTO events VALUES(21,1,1,3,2,3,'b2',NULL,NULL,NULL,1794797137355029,1794797137355029,'["x"]','{}');
INSERT INTO events VALUES(22,1,4,8,2,1,X'01a1e23eedd47a94b1e2e396ef679d18',NULL,1,2,1794797137364973,1794797137364973,NULL,'{"confidence":0.8,"decision_data":{"tables":["orders"]},"decision_id":"d1","decision_type":"intent_routing","outcome":"unknown"}');
INSERT INTO events VALUES(23,2,9,4,2,6,'acme-1',NULL,NULL,8,1794797137384054,1794797137384054,NULL,'{"rating":"negative"}');
INSERT INTO events VALUES(24,1,1,17,2,8,X'01a1e23eedf27723ad7cbac3976301ed',1,NULL,NULL,1794797137394202,1794797137394202,NULL,'{"attributes":{"plan":"pro"},"rule":"profile"}');
INSERT INTO events VALUES(25,2,1,17,2,8,X'01a1e23eedfb7032b851dde6d4ef8e20',NULL,NULL,NULL,1794797137403465,1794797137403465,NULL,'{"rule":"privacy","settings":{"redact":{"phone":false}}}');
INSERT INTO events VALUES(26,1,4,15,2,6,X'01a1e23eee04793cbe40614e20eb6c10',NULL,4,9,1794797137412652,1794797137412652,NULL,'{"phase":"opened","text":"With a key"}');
INSERT INTO events VALUES(27,1,1,17,2,8,X'01a1e23eee0e7f6bbfedc3bc19fa95cb',NULL,NULL,NULL,1794797137422968,1794797137422968,NULL,'{"events":2,"rule":"erasure","turns":1}');
INSERT INTO events VALUES(28,1,2,2,2,2,X'018f2f9e7e6d7c3a9b1d00000000000f',NULL,NULL,NULL,1794797155805597,1794797155805597,NULL,'{"endpoint":"/x","latency_ms":12.5}');
INSERT INTO events VALUES(29,1,4,8,2,1,X'01a1e23f360979748088529510590554',NULL,1,2,1794797155849603,1794797155849603,NULL,'{"decision_id":"d1","outcome":"success","outcome_data":{}}');
CREATE TABLE claims (
    project  INTEGER NOT NULL,
    space    INTEGER NOT NULL,
    id       BLOB NOT NULL,
    mac      BLOB,
    position INTEGER NOT NULL,
    PRIMARY KEY (project, space, id)
) WITHOUT ROWID;
INSERT INTO claims VALUES(1,1,'b1',X'f8078cbfdc7be409a75a275555019e4f',20);
INSERT INTO claims VALUES(1,1,'b2',X'2cfd0968688fb0452dabb2f7470cad17',21);
INSERT INTO claims VALUES(1,1,'loose',X'05f1a212e87ea7618bae8449d1aa56b1',19);
INSERT INTO claims VALUES(1,1,'rating-early',X'e78766b051d424ade9acfbefd6062515',1);
INSERT INTO claims VALUES(1,1,X'018f2f9e7e6d7c3a9b1d00000000000f',X'49e853585282c668cc663de437f19c40',28);
INSERT INTO claims VALUES(1,1,X'01a1e23eec9f78f7befb891e6be57413',X'2630a0029b6a92522ac3b772ebc3fb72',2);
INSERT INTO claims VALUES(1,1,X'01a1e23eeca77d51ad89267a92665f9f',X'7d1f7be2a18d951adb8a3bc6bd03d644',3);
INSERT INTO claims VALUES(1,1,X'01a1e23eece17538a86c6c91d8ad7342',X'b56467c4be6da4b3bf71b539eb9f6e03',4);
INSERT INTO claims VALUES(1,1,X'01a1e23eece97bf58f0e3616ea31027b',X'7b2ccda7a9e39dc4a15f6742d365dfc5',5);
INSERT INTO claims VALUES(1,1,X'01a1e23eed1b7dad9ef909e22c8bb25c',X'54939d1e1786a783e5a79847bbe74951',6);
INSERT INTO claims VALUES(1,1,X'01a1e23eed1d70758be3bcf0e3805bd6',X'ea308920c1cf348c3c2195e0aa42d761',7);
INSERT INTO claims VALUES(1,1,X'01a1e23eed4675228de492d6300f7454',X'c801ed31e22ca1747536794f64052589',8);
INSERT INTO claims VALUES(1,1,X'01a1e23eed47764292134c2d62680ef7',X'd6910a98cc95e1ae53af046170deba81',9);
INSERT INTO claims VALUES(1,1,X'01a1e23eed507dab8ff9bdc9076ac594',X'ab34ef4fc37a826f5fe7c49ac5bb8e7a',10);
INSERT INTO claims VALUES(1,1,X'01a1e23eed59748a8158cda250b476d4',X'1d6d977bb2a2baa184cbedaa15595719',11);
INSERT INTO claims VALUES(1,1,X'01a1e23eed6272a5a30c9fb2e2c72edf',NULL,12);
INSERT INTO claims VALUES(1,1,X'01a1e23eed6b78f8beec3ccb088f7fd4',X'9533d98724559fb9373df7c9eaf6d76c',13);
INSERT INTO claims VALUES(1,1,X'01a1e23eed747ff7828aa7e21cf671ba',X'95e028629dba9f9251f3c025cfdf046f',14);
INSERT INTO claims VALUES(1,1,X'01a1e23eed7d75dda916680471bb1da9',X'019139ea30eb92a87d492b50c0f326d1',15);
INSERT INTO claims VALUES(1,1,X'01a1e23eed87732f8454fc8e3800b0e8',X'9ecfd99771ee78e9ffbf24d0d161bb44',16);
INSERT INTO claims VALUES(1,1,X'01a1e23eed907aa0ab498512c2aff8c1',NULL,17);
INSERT INTO claims VALUES(1,1,X'01a1e23eed99710ea8734d4adcdcda91',X'3df55b745176eb5847a4f79f31b47369',18);
INSERT INTO claims VALUES(1,1,X'01a1e23eedd47a94b1e2e396ef679d18',X'10cae4686092c1a993b07e1b180cc1e4',22);
INSERT INTO claims VALUES(1,1,X'01a1e23eedf27723ad7cbac3976301ed',X'00000000000000000000000000000000',24);
INSERT INTO claims VALUES(1,1,X'01a1e23eee04793cbe40614e20eb6c10',X'2dd3ba5dad25cf2a90c19980c52d6d75',26);
INSERT INTO claims VALUES(1,1,X'01a1e23eee0e7f6bbfedc3bc19fa95cb',X'00000000000000000000000000000000',27);
INSERT INTO claims VALUES(1,1,X'01a1e23f360979748088529510590554',X'07bfa5867fac44620ff6d5e07ab3989e',29);
INSERT INTO claims VALUES(1,2,'once',X'940d2b0fc2010d44802c3a434d5ab6c4',26);
INSERT INTO claims VALUES(1,3,'k1',X'2dd3ba5dad25cf2a90c19980c52d6d75',26);
INSERT INTO claims VALUES(1,3,'t1',X'2630a0029b6a92522ac3b772ebc3fb72',2);
INSERT INTO claims VALUES(1,3,'t2',X'b56467c4be6da4b3bf71b539eb9f6e03',4);
INSERT INTO claims VALUES(1,3,'t3',X'54939d1e1786a783e5a79847bbe74951',6);
INSERT INTO claims VALUES(1,3,'t4',X'c801ed31e22ca1747536794f64052589',8);
INSERT INTO claims VALUES(1,3,'t5',X'ab34ef4fc37a826f5fe7c49ac5bb8e7a',10);
INSERT INTO claims VALUES(1,3,'t6',NULL,12);
INSERT INTO claims VALUES(1,4,'t1',X'7d1f7be2a18d951adb8a3bc6bd03d644',3);
INSERT INTO claims VALUES(1,4,'t2',X'7b2ccda7a9e39dc4a15f6742d365dfc5',5);
INSERT INTO claims VALUES(1,4,'t3',X'ea308920c1cf348c3c2195e0aa42d761',7);
INSERT INTO claims VALUES(1,4,'t4',X'd6910a98cc95e1ae53af046170deba81',9);
INSERT INTO claims VALUES(1,4,'t5',X'1d6d977bb2a2baa184cbedaa15595719',11);
INSERT INTO claims VALUES(1,5,'d1',X'10cae4686092c1a993b07e1b180cc1e4',22);
INSERT INTO claims VALUES(2,1,'acme-1',X'41a332f276ce5ba14a1d05799a99902b',23);
INSERT INTO claims VALUES(2,1,X'01a1e23eedfb7032b851dde6d4ef8e20',X'00000000000000000000000000000000',25);
CREATE TABLE reactions (
    position     INTEGER PRIMARY KEY,
    event        BLOB NOT NULL,
    project      INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    conversation INTEGER,
    user         INTEGER,
    origin       INTEGER NOT NULL,
    reaction     INTEGER NOT NULL,
    confidence   REAL NOT NULL,
    ts           INTEGER NOT NULL
);
INSERT INTO reactions VALUES(14,X'01a1e23eed747ff7828aa7e21cf671ba',1,1,2,1,1,2,1.0,1794797137268728);
INSERT INTO reactions VALUES(15,X'01a1e23eed7d75dda916680471bb1da9',1,2,1,1,2,1,0.8123456789012339918,1794797137277922);
INSERT INTO reactions VALUES(16,X'01a1e23eed87732f8454fc8e3800b0e8',1,4,1,2,1,3,1.0,1794797137287127);
INSERT INTO reactions VALUES(17,X'01a1e23eed907aa0ab498512c2aff8c1',1,6,3,3,1,2,1.0,1794797137296745);
INSERT INTO reactions VALUES(19,'loose',1,7,NULL,NULL,1,2,1.0,1794797137336608);
INSERT INTO reactions VALUES(23,'acme-1',2,8,NULL,NULL,1,2,1.0,1794797137384054);
CREATE TABLE activity (
    conversation INTEGER NOT NULL,
    day          INTEGER NOT NULL,
    origin       INTEGER NOT NULL,
    reaction     INTEGER NOT NULL,
    project      INTEGER NOT NULL,
    count        INTEGER NOT NULL,
    last_ts      INTEGER NOT NULL,
    PRIMARY KEY (conversation, day, origin, reaction)
) WITHOUT ROWID;
INSERT INTO activity VALUES(1,20773,1,3,1,1,1794797137287127);
INSERT INTO activity VALUES(1,20773,2,1,1,1,1794797137277922);
INSERT INTO activity VALUES(2,20773,1,2,1,1,1794797137268728);
INSERT INTO activity VALUES(3,20773,1,2,1,1,1794797137296745);
CREATE TABLE newest (
    conversation INTEGER PRIMARY KEY,
    project      INTEGER NOT NULL,
    last_ts      INTEGER NOT NULL
);
INSERT INTO newest VALUES(1,1,1794797137287127);
INSERT INTO newest VALUES(2,1,1794797137268728);
INSERT INTO newest VALUES(3,1,1794797137296745);
CREATE TABLE decisions (
    project      INTEGER NOT NULL,
    id           BLOB NOT NULL,
    conversation INTEGER,
    made         INTEGER,
    settled      INTEGER,
    PRIMARY KEY (project, id)
) WITHOUT ROWID;
INSERT INTO decisions VALUES(1,'d1',1,22,29);
CREATE TABLE cursors (
    name     TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE turn_logs (
    turn       INTEGER PRIMARY KEY,
    hosted_uri TEXT NOT NULL,
    document   TEXT
);
CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL,
    tenant     TEXT NOT NULL,
    project    TEXT,
    role       INTEGER NOT NULL,
    rate       INTEGER,
    origin     TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
INSERT INTO keys VALUES('6ahdf39i91fl',X'2a855228caa8a03b85add7798b444b09a76ffa1877273796f024f1a9bf29ff13','default',NULL,4,NULL,NULL,1794797156059639,NULL);
INSERT INTO keys VALUES('r16mcwj17hgh',X'7460b05213564ffe0c082d2167d16bf08d1676b26c1be21918467af97a3eff05','acme',NULL,3,NULL,NULL,1794797156323229,1794797157163619);
CREATE TABLE privacy (
    tenant   TEXT PRIMARY KEY,
    settings TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO privacy VALUES('acme','{"redact":{"phone":false}}');
CREATE TABLE profiles (
    user       INTEGER PRIMARY KEY,
    attributes TEXT NOT NULL
);
INSERT INTO profiles VALUES(1,'{"plan":"pro"}');
CREATE TABLE dead_letters (
    number  INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    id      TEXT NOT NULL,
    reason  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    letter  TEXT NOT NULL,
    UNIQUE (project, id)
);
CREATE TABLE baseline_turns(
  "key" INT,
  project INT,
  id TEXT,
  conversation INT,
  user INT,
  ts INT,
  opened INT,
  completed INT,
  track TEXT,
  bundle TEXT,
  user_type TEXT
);
CREATE TABLE baseline_reactions(
  position INT,
  event,
  project INT,
  turn INT,
  conversation INT,
  user INT,
  origin INT,
  reaction INT,
  confidence REAL,
  ts INT
);
CREATE TABLE baseline_activity(
  conversation INT,
  day INT,
  origin INT,
  reaction INT,
  project INT,
  count INT,
  last_ts INT
);
CREATE TABLE baseline_newest(
  conversation INT,
  project INT,
  last_ts INT
);
CREATE TABLE baseline_decisions(
  project INT,
  id,
  conversation INT,
  made INT,
  settled INT
);
CREATE TABLE baseline_privacy(tenant TEXT,settings TEXT);
CREATE TABLE baseline_profiles(user INT,attributes TEXT);
CREATE INDEX turns_by_conversation ON turns (conversation, ts) WHERE conversation IS NOT NULL;
CREATE INDEX turns_by_track ON turns (project, track) WHERE track IS NOT NULL;
CREATE INDEX events_by_project ON events (project, position, type, source);
CREATE INDEX events_by_turn ON events (turn, position) WHERE turn IS NOT NULL;
CREATE INDEX events_by_user ON events (user, position) WHERE user IS NOT NULL;
CREATE INDEX events_of_conversations ON events (conversation, position)
    WHERE conversation IS NOT NULL AND user IS NULL AND turn IS NULL;
CREATE INDEX claims_of_requests ON claims (position) WHERE space = 2;
CREATE INDEX reactions_by_turn ON reactions (turn, origin, user);
CREATE INDEX reactions_by_time ON reactions (project, ts, conversation, origin, reaction);
CREATE INDEX reactions_by_user ON reactions (project, user, ts, conversation);
CREATE INDEX reactions_by_conversation ON reactions (conversation, origin, reaction, ts)
    WHERE conversation IS NOT NULL;
CREATE INDEX activity_by_time ON activity (project, last_ts, conversation, origin, reaction);
CREATE INDEX newest_by_time ON newest (project, last_ts, conversation);
CREATE INDEX decisions_by_conversation ON decisions (conversation, made)
    WHERE conversation IS NOT NULL;
CREATE VIEW conv_messages AS
SELECT
    p.tenant, p.project, u.id AS user_id, c.id AS conversation_id, t.id AS turn_id,
    'artifact' AS role,
    CASE WHEN t.track IS NULL
        THEN json_array('artifact:turn.log.reaction', 'turn:' || t.id,
            'origin:' || iif(r.origin = 1, 'user', 'machine'))
        ELSE json_array('artifact:turn.log.reaction', 'turn:' || t.id,
            'origin:' || iif(r.origin = 1, 'user', 'machine'), 'track:' || t.track)
    END AS tags,
    t.track AS track_id, t.bundle AS bundle_id,
    '[turn.log.reaction] ' || json_object(
        'turn_id', t.id,
        'text', coalesce(json_extract(e.data, '$.text'), json_extract(e.data, '$.comment')),
        'confidence', r.confidence,
        'reaction', CASE r.reaction WHEN 1 THEN 'ok' WHEN 2 THEN 'not_ok' ELSE 'neutral' END,
        'origin', iif(r.origin = 1, 'user', 'machine')) AS text,
    'uptake:event:' || r.position AS hosted_uri,
    r.ts AS ts, NULL AS embedding
FROM reactions r
JOIN projects p ON p.key = r.project
JOIN turns t ON t.key = r.turn
LEFT JOIN events e ON e.position = r.position
LEFT JOIN users u ON u.key = r.user
LEFT JOIN conversations c ON c.key = r.conversation;
CREATE INDEX baseline_turns_by_key ON baseline_turns (key);
COMMIT;
PRAGMA user_version = 5;

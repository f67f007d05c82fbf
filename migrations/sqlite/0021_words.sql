-- The full-text index: questions, answers, comments, corrections and reactions with a text. Maintained by triggers,
-- so that no path that writes, erases or drops an event can be missed.
CREATE VIEW event_said (position, said) AS
SELECT position,
    -- The project is indexed as a word, so that a search reads no other project.
    'p' || project || 'p ' || substr(
        coalesce(data ->> '$.text', '') || ' ' || coalesce(data ->> '$.response', '') || ' ' ||
        coalesce(data ->> '$.comment', '') || ' ' || coalesce(data ->> '$.corrected', '') || ' ' ||
        coalesce(data ->> '$.corrected_sql', '') || ' ' || coalesce(data ->> '$.explanation', ''), 1, 20000)
FROM events WHERE turn IS NOT NULL AND source IN (4, 5, 6, 15, 16);

-- The index stores word positions, not the text. Erased words are overwritten at once.
CREATE VIRTUAL TABLE event_words USING fts5 (said, content = '', detail = 'none', columnsize = 0);
INSERT INTO event_words (event_words, rank) VALUES ('secure-delete', 1);

-- Indexing in batches is much cheaper than one message at a time. A trigger indexes a full batch; a search indexes
-- the rest.
CREATE TABLE event_words_upto (position INTEGER NOT NULL);
INSERT INTO event_words_upto VALUES (0);
CREATE VIEW event_unread (position, said) AS
SELECT position, said FROM event_said WHERE position > (SELECT position FROM event_words_upto);

INSERT INTO event_words (rowid, said) SELECT position, said FROM event_unread;
UPDATE event_words_upto SET position = (SELECT coalesce(max(position), 0) FROM events);

CREATE TRIGGER event_words_insert AFTER INSERT ON events WHEN new.position % 256 = 0 BEGIN
    INSERT INTO event_words (rowid, said) SELECT position, said FROM event_unread;
    UPDATE event_words_upto SET position = new.position;
END;
CREATE TRIGGER event_words_forget BEFORE UPDATE OF data ON events
WHEN old.position <= (SELECT position FROM event_words_upto) BEGIN
    INSERT INTO event_words (event_words, rowid, said)
    SELECT 'delete', position, said FROM event_said WHERE position = old.position;
END;
CREATE TRIGGER event_words_update AFTER UPDATE OF data ON events
WHEN old.position <= (SELECT position FROM event_words_upto) BEGIN
    INSERT INTO event_words (rowid, said) SELECT position, said FROM event_said WHERE position = new.position;
END;
CREATE TRIGGER event_words_delete BEFORE DELETE ON events
WHEN old.position <= (SELECT position FROM event_words_upto) BEGIN
    INSERT INTO event_words (event_words, rowid, said)
    SELECT 'delete', position, said FROM event_said WHERE position = old.position;
END;

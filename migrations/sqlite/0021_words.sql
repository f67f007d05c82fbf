-- What was said, by its words: questions, answers, comments, corrections, reactions with a text. Kept in step by the
-- database itself, so no way of writing, erasing or dropping an event can be forgotten.
CREATE VIEW event_said (position, said) AS
SELECT position,
    -- The project is a word too, so that nobody's search goes through what others said.
    'p' || project || 'p ' || substr(
        coalesce(data ->> '$.text', '') || ' ' || coalesce(data ->> '$.response', '') || ' ' ||
        coalesce(data ->> '$.comment', '') || ' ' || coalesce(data ->> '$.corrected', '') || ' ' ||
        coalesce(data ->> '$.corrected_sql', '') || ' ' || coalesce(data ->> '$.explanation', ''), 1, 20000)
FROM events WHERE turn IS NOT NULL AND source IN (4, 5, 6, 15, 16);

-- Only where a word stands is kept, not the text. What is erased is overwritten at once.
CREATE VIRTUAL TABLE event_words USING fts5 (said, content = '', detail = 'none', columnsize = 0);
INSERT INTO event_words (event_words, rank) VALUES ('secure-delete', 1);

-- Many messages together cost a fraction of each by itself, so they are put in by the hundred; a search puts in
-- what is left.
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

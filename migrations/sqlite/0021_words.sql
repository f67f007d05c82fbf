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
INSERT INTO event_words (rowid, said) SELECT position, said FROM event_said;

CREATE TRIGGER event_words_insert AFTER INSERT ON events BEGIN
    INSERT INTO event_words (rowid, said) SELECT position, said FROM event_said WHERE position = new.position;
END;
CREATE TRIGGER event_words_forget BEFORE UPDATE OF data ON events BEGIN
    INSERT INTO event_words (event_words, rowid, said)
    SELECT 'delete', position, said FROM event_said WHERE position = old.position;
END;
CREATE TRIGGER event_words_update AFTER UPDATE OF data ON events BEGIN
    INSERT INTO event_words (rowid, said) SELECT position, said FROM event_said WHERE position = new.position;
END;
CREATE TRIGGER event_words_delete BEFORE DELETE ON events BEGIN
    INSERT INTO event_words (event_words, rowid, said)
    SELECT 'delete', position, said FROM event_said WHERE position = old.position;
END;

-- The full-text index: questions, answers, comments, corrections and reactions with a text. The project is
-- indexed as a word of every message, so that a search reads no other project. Punctuation separates words,
-- so `a.example` is two words, as in SQLite.
CREATE FUNCTION said_words(project BIGINT, data TEXT) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT to_tsvector('pg_catalog.simple', 'p' || project || 'p ' || CASE WHEN strpos(data, '\u0000') > 0 THEN '' ELSE
    regexp_replace(left(concat_ws(' ', data::json ->> 'text', data::json ->> 'response', data::json ->> 'comment',
        data::json ->> 'corrected', data::json ->> 'corrected_sql', data::json ->> 'explanation'), 20000),
        '[][!-/:-@\\^_`{|}~]+', ' ', 'g') END)
$$;
CREATE INDEX events_by_word ON events USING gin (said_words(project, data))
    WHERE turn IS NOT NULL AND source IN (4, 5, 6, 15, 16);

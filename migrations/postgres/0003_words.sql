-- What was said, by its words: questions, answers, comments, corrections, reactions with a text.
-- The project is a word too, so that nobody's search goes through what others said. Signs that are no letters
-- part words, so that `a.example` is two of them, as in a store that is a file.
CREATE FUNCTION said_words(project BIGINT, data TEXT) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT to_tsvector('pg_catalog.simple', 'p' || project || 'p ' || CASE WHEN strpos(data, '\u0000') > 0 THEN '' ELSE
    regexp_replace(left(concat_ws(' ', data::json ->> 'text', data::json ->> 'response', data::json ->> 'comment',
        data::json ->> 'corrected', data::json ->> 'corrected_sql', data::json ->> 'explanation'), 20000),
        '[][!-/:-@\\^_`{|}~]+', ' ', 'g') END)
$$;
CREATE INDEX events_by_word ON events USING gin (said_words(project, data))
    WHERE turn IS NOT NULL AND source IN (4, 5, 6, 15, 16);

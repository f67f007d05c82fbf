-- One call per statement instead of one per row. A new index row needs no touch: without its vector the turn is
-- not in the in-memory index, and the vector has a touch of its own. A vector that was stored before its turn
-- needs the touch of the row.
DROP TRIGGER turn_touched ON turn_index;
DROP TRIGGER vector_touched ON turn_vectors;
DROP FUNCTION touch_turn();

CREATE FUNCTION touch_turns() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO turn_touches (turn, touched)
        SELECT turn, number FROM changed, (SELECT nextval('touches') AS number) next
        ON CONFLICT (turn) DO UPDATE SET touched = excluded.touched;
    RETURN NULL;
END $$;
CREATE FUNCTION touch_new_turns() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO turn_touches (turn, touched)
        SELECT turn, number FROM changed, (SELECT nextval('touches') AS number) next
        WHERE EXISTS (SELECT FROM turn_vectors v WHERE v.turn = changed.turn)
        ON CONFLICT (turn) DO UPDATE SET touched = excluded.touched;
    RETURN NULL;
END $$;
CREATE FUNCTION touch_vectors() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO turn_touches (turn, touched, vectored)
        SELECT turn, number, number FROM changed, (SELECT nextval('touches') AS number) next
        ON CONFLICT (turn) DO UPDATE SET touched = excluded.touched, vectored = excluded.vectored;
    RETURN NULL;
END $$;

CREATE TRIGGER turn_inserted AFTER INSERT ON turn_index
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_new_turns();
CREATE TRIGGER turn_updated AFTER UPDATE ON turn_index
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_turns();
CREATE TRIGGER turn_deleted AFTER DELETE ON turn_index
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_turns();
CREATE TRIGGER vector_inserted AFTER INSERT ON turn_vectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_vectors();
CREATE TRIGGER vector_updated AFTER UPDATE ON turn_vectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_vectors();
CREATE TRIGGER vector_deleted AFTER DELETE ON turn_vectors
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION touch_vectors();

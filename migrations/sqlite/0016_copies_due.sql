-- Turns of erased users whose copies elsewhere may still have what was erased: each stays here until its
-- copy was made again or taken away. The copies of a folder or a bucket are no part of a transaction.
CREATE TABLE copies_due (
    turn INTEGER PRIMARY KEY
);

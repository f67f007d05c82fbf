-- Turns of erased users whose copies may still hold erased text. A row stays until its copy is rewritten or
-- deleted, because copies in a folder or a bucket are not part of the transaction.
CREATE TABLE copies_due (
    turn INTEGER PRIMARY KEY
);

-- Erasure finds reports on queries, which name no user. All writes wait for it.
CREATE INDEX returned_by_position ON returned (position);

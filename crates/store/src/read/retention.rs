//! Dropping what is old.

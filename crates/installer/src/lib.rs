//! Resolve, select, fetch, verify, unpack and lock.

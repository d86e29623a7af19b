//! A folder of release files becomes a release in a store.

//! What `OpenTofu` would do with the same files, blocks and helpers.

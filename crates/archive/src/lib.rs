//! Deterministic zip and tar.gz, safe extraction, and package checksums.

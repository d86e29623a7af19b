//! Releases from any place into the user's own.
//!
//! ```text
//! rules, sources --select--> wanted releases --plan--> what is missing --transfer--> Store, a tree of files, a bundle
//! ```

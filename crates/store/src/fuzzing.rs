//! The reader of bundles, for the fuzz target.

pub use crate::bundle::fuzzing::bundle;

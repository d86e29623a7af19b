//! Measured cases.

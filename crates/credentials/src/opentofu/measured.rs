//! The measured cases.

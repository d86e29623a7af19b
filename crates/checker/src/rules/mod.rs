//! The rules, and where each looks.

pub(crate) mod catalogue;

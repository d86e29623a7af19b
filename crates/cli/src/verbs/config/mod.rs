//! `config`: what the user's files do, and what to write into them.

mod check;
mod snippet;

pub(crate) use check::check;
pub(crate) use snippet::snippet;

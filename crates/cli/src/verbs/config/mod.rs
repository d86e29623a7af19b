//! `config`: what the user's files do, and what to write into them.

mod check;
mod edit;
mod snippet;

pub(crate) use check::check;
pub(crate) use edit::{add, remove};
pub(crate) use snippet::snippet;

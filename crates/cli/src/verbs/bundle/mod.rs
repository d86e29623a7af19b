//! `bundle`: releases and modules in one file.

mod create;
mod load;
mod report;
mod show;

pub(crate) use create::create;
pub(crate) use load::load;
pub(crate) use show::show;

//! The page for people: what is served, by whom it was signed, and what to paste.
//!
//! ```text
//! /                                what is served, with a search
//! /providers/HOST/NS/TYPE          how to use it, its versions, the newest first
//! /providers/HOST/NS/TYPE/VERSION  its packages, their checksums, who signed it
//! /providers/HOST/…/VERSION/docs   its documentation, one page of it, with a search in their names
//! /module/HOST/NS/NAME/SYSTEM      how to use it, its versions
//! /module/HOST/NS/…/VERSION        what it takes and gives, its README
//! ```
//!
//! HTML that the server renders: no scripts, nothing from another host, every foreign text escaped and short. The start page
//! asks no place; the page of a provider reads a few of its versions, and that of a version one release. The page of a module's version
//! unpacks its package once.

mod built;
mod docs;
mod docs_cache;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod hcl_colours;
mod links;
mod list;
mod module;
mod opinion;
mod package_contents;
mod pager;
mod problem;
mod provider;
mod readme;
mod release;
mod routes;
mod signatures;
mod snippets;
mod words;

pub(crate) use routes::{is_page, routes};

#[cfg(test)]
mod tests;

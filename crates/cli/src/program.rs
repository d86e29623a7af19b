//! How this program was built: `build.rs` finds it out.

use serde::Serialize;

/// What `build.rs` found out.
#[derive(Serialize)]
#[serde(tag = "event", rename = "program")]
pub(crate) struct Program {
    pub(crate) version: &'static str,
    pub(crate) commit: Option<&'static str>,
    pub(crate) date: Option<&'static str>,
    pub(crate) target: &'static str,
    pub(crate) rustc: &'static str,
}

pub(crate) const PROGRAM: Program = Program {
    version: env!("CARGO_PKG_VERSION"),
    commit: known(env!("BUILD_COMMIT")),
    date: known(env!("BUILD_COMMIT_DATE")),
    target: env!("BUILD_TARGET"),
    rustc: env!("BUILD_RUSTC"),
};

const fn known(text: &'static str) -> Option<&'static str> {
    if text.is_empty() { None } else { Some(text) }
}

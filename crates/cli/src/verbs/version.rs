//! `version`.

use serde::Serialize;

use super::context::Context;
use crate::page::Page;

/// What `build.rs` found out.
#[derive(Serialize)]
#[serde(tag = "event", rename = "program")]
pub(crate) struct Program {
    version: &'static str,
    commit: Option<&'static str>,
    date: Option<&'static str>,
    target: &'static str,
    rustc: &'static str,
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

/// Prints the version and how this program was built.
pub(super) fn version(context: &Context) {
    let Program { version, commit, date, target, rustc } = PROGRAM;
    context.emit(&PROGRAM, || {
        let mut page = Page::of(format_args!("tofu-oci {version}"));
        page.row_if("", "commit", commit);
        page.row_if("", "date", date);
        page.row("", "target", target);
        page.row("", "rustc", rustc);
        page
    });
}

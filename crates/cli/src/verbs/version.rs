//! `version`.

use super::context::Context;
use crate::page::Page;
use crate::program::{PROGRAM, Program};

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

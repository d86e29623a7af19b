//! Bugs of this program, reported by their place: the words of a panic may quote any value, a secret too.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::Location;

use crate::args;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::page::Page;
use crate::printer;

/// Runs the program. A panic in any thread reports where it is, not its words; a panic in this thread ends the run as
/// unexpected. `RUST_BACKTRACE` shows how the program came there.
pub(crate) fn told(run: impl FnOnce() -> Exit + std::panic::UnwindSafe) -> Exit {
    std::panic::set_hook(Box::new(|info| printer::stderr(&page(info.location(), &Backtrace::capture()))));
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        if args::ask_for_json() {
            Diagnostic::new(Exit::Unexpected, "a bug in tofu-oci").code("bug").print_json();
        }
        Exit::Unexpected
    })
}

fn page(location: Option<&Location<'_>>, trace: &Backtrace) -> Page {
    let place = location.map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let mut page = Page::of(format_args!("error: a bug in tofu-oci, at {place}"));
    if trace.status() == BacktraceStatus::Captured {
        page.gap();
        page.block("", &trace.to_string());
    }
    page.gap();
    page.line(
        "hint: report it with this place and the command; its own words are left out, for they could hold a secret",
    );
    page
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Set in the process that panics.
    const PANICS: &str = "TOFU_OCI_TEST_PANICS";

    #[test]
    fn a_panic_tells_its_place_and_no_secret() {
        if std::env::var_os(PANICS).is_some() {
            let secret = String::from("user:pässword");
            // The message of such a cut quotes all of the text.
            let exit = told(|| if secret[..7].is_empty() { Exit::Done } else { Exit::Usage });
            assert_eq!(exit, Exit::Unexpected);
            return;
        }
        let myself = std::env::current_exe().expect("a test is a program");
        let mut command = Command::new(myself);
        command.args(["--exact", "bug::tests::a_panic_tells_its_place_and_no_secret", "--nocapture"]);
        let output = command.env(PANICS, "1").env_remove("RUST_BACKTRACE").output().expect("it can be run");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("error: a bug in tofu-oci, at ") && said.contains("bug.rs:"), "{said}");
        assert!(!said.contains("user") && !said.contains("ssword"), "{said}");
    }
}

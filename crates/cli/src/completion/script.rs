//! The scripts of the shells, which are our own: bash takes a word apart at `:`, `@` and `=`, which repositories, addresses and
//! options contain; and a name of a file must not run as a command, neither at TAB nor after it.

use std::ffi::OsString;
use std::io::{Error, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine::complete;
use clap_complete::env::EnvCompleter;
use tofu_oci_types::is_unprintable;

/// A shell with its script, which sends the words up to the cursor, and reads a candidate a line: the value, and after a tab what
/// it means.
pub(super) struct Script {
    pub(super) shell: &'static str,
    pub(super) text: &'static str,
}

impl EnvCompleter for Script {
    fn name(&self) -> &'static str {
        self.shell
    }

    fn is(&self, name: &str) -> bool {
        name == self.shell
    }

    fn write_registration(&self, _: &str, _: &str, _: &str, _: &str, out: &mut dyn Write) -> Result<(), Error> {
        out.write_all(self.text.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let last = words.len() - 1;
        for candidate in complete(command, words, last, here)? {
            // No file name acts on the terminal.
            if candidate.get_value().to_string_lossy().contains(is_unprintable) {
                continue;
            }
            let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            let first = help.lines().next().unwrap_or_default();
            writeln!(out, "{}\t{first}", candidate.get_value().to_string_lossy())?;
        }
        Ok(())
    }
}

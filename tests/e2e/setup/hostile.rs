//! Text that acts on a terminal, a log or a CI system, and the check that none of it does.

use std::process::Command;

use tofu_oci_types::is_unprintable;

use super::Scene;

/// Moves the cursor, names the window, forges lines, turns the direction of writing, hides text, commands CI systems.
pub(crate) const HOSTILE: &str = "h\x1b[2J\x1b]0;t\x07\u{9b}31m\r\n::error::forged\n::add-mask::m\nforged line\n\
     \u{202e}\u{2066}\u{200e}\u{61c}\u{200b}\u{2028}\u{2029}\u{feff}\u{e0041}\u{ad}\t\u{7f} ::warning::w ##[error]g ##vso[x]y";

/// As much of it as a header can carry.
pub(crate) const HOSTILE_HEADER: &str =
    "h\u{9b}31m\u{202e}\u{200b}\u{2028}\u{e0041}\t ::error::forged ::add-mask::m ##[error]g ##vso[x]y";

/// The same without what is not ASCII: some headers count only then.
pub(crate) const ASCII_HEADER: &str = "h\t ::error::forged ::add-mask::m ##[error]g ##vso[x]y";

/// Every verb that speaks with a registry or a layout, for `AT` as the place of widget 1.4.0.
pub(crate) const VERBS: [&str; 18] = [
    "versions AT --platforms --attempts 1",
    "copy AT oci:copied --version 1.4.0 --attempts 1",
    "copy AT oci:other --version 1.4.0 --dry-run --attempts 1",
    "install registry.example.com/acme/widget --from AT --platform linux_amd64 --attempts 1",
    "lock registry.example.com/acme/widget --from AT --attempts 1",
    "verify registry.example.com/acme/widget --from AT --attempts 1",
    "check AT --attempts 1",
    "check AT --format sarif --attempts 1",
    "check AT --format junit --attempts 1",
    "resolve registry.example.com/acme/widget --from AT --explain --attempts 1",
    "sign AT:1.4.0 --key p256.pem --attempts 1",
    "push dist AT --address registry.example.com/acme/widget --attempts 1",
    "push dist AT --address registry.example.com/acme/widget --dry-run --attempts 1",
    "versions AT --attempts 1",
    "versions AT --long --attempts 1",
    "show AT:1.4.0 --attempts 1",
    "show registry.example.com/acme/widget@1.4.0 --from AT --platform linux_amd64 --attempts 1",
    "outdated --from AT --attempts 1",
];

/// Asserts that a text does nothing to what shows it. The styles of this program are taken out first.
#[track_caller]
pub(crate) fn harmless(what: &str, text: &str) {
    let text = without_styles(text);
    let at = text.char_indices().find(|(_, character)| *character != '\n' && is_unprintable(*character));
    assert!(at.is_none(), "{what}: {at:?} in\n{text:?}");
    for line in text.lines() {
        let start = line.trim_start();
        assert!(!start.starts_with("::") && !line.starts_with("forged"), "{what}: a forged line {line:?} in\n{text}");
        assert!(!line.contains("##[") && !line.contains("##vso["), "{what}: a command in {line:?}");
    }
}

/// The text without the styles that this program writes: digits and semicolons between `ESC [` and `m`.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|one: char| one.is_ascii_digit() || one == ';').len();
        match part[digits..].strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => out.extend(["\x1b[", part]),
        }
    }
    out
}

impl Scene {
    /// Runs a command with the most output and colours, so that nothing removes escape sequences, and as JSON.
    /// Nothing that it prints does anything. Returns everything that was printed.
    #[track_caller]
    pub(crate) fn harmless(&self, line: &str) -> String {
        let words = super::text::words(&line.replace("REGISTRY", self.registry.address()));
        self.harmless_with(line, &|command| {
            command.args(&words);
        })
    }

    /// The same with arguments that are not text.
    #[track_caller]
    pub(crate) fn harmless_with(&self, what: &str, prepare: &dyn Fn(&mut Command)) -> String {
        let mut all = String::new();
        for options in ["-vvv", "--json"] {
            if options == "--json" && what.contains("--format") {
                continue;
            }
            let mut command = self.command("");
            prepare(&mut command);
            command.arg(options).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
            let said = self.output(&mut command);
            assert!(!said.stderr.contains("a bug in tofu-oci"), "{what}: {}", said.stderr);
            harmless(&format!("{what} {options} stdout"), &said.stdout);
            harmless(&format!("{what} {options} stderr"), &said.stderr);
            if options == "--json" {
                for line in said.stdout.lines() {
                    assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{what}: not JSON: {line}");
                }
            }
            all.extend([said.stdout, said.stderr]);
        }
        all
    }
}

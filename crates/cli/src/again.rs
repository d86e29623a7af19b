//! Commands that hints advise, with the options that this run was given: what is printed can be run as it stands.

use std::path::Path;
use std::sync::OnceLock;

use tofu_oci_types::ProviderAddr;

use crate::args::{Lookup, Verb};
use crate::trust::TrustArgs;

/// What was said about where to look, on the command line or in its variables.
static GIVEN: OnceLock<Given> = OnceLock::new();

#[derive(Default)]
struct Given {
    from: String,
    rest: String,
}

/// Keeps the options of this run that other verbs need too.
pub(crate) fn remember(verb: &Verb) {
    let given = match verb {
        Verb::Install(args) => options(&args.lookup, args.chdir.as_deref(), &args.trust),
        Verb::Lock(args) => options(&args.lookup, args.chdir.as_deref(), &args.trust),
        Verb::Verify(args) => options(&args.lookup, args.chdir.as_deref(), &args.trust),
        _ => return,
    };
    let _ = GIVEN.set(given);
}

/// `tofu-oci` with these words, and where this run was told to look.
pub(crate) fn command(words: &str) -> String {
    let (from, rest) = GIVEN.get().map_or(("", ""), |given| (given.from.as_str(), given.rest.as_str()));
    format!("tofu-oci {words}{from}{rest}")
}

/// The command that lists the versions of a provider where this run was told to look.
pub(crate) fn versions(address: &ProviderAddr) -> String {
    match GIVEN.get().map(|given| given.from.as_str()) {
        Some(from) if !from.is_empty() => format!("tofu-oci versions {address}{from}"),
        _ => format!("tofu-oci versions {address} --provider"),
    }
}

fn options(lookup: &Lookup, chdir: Option<&Path>, trust: &TrustArgs) -> Given {
    let option = |name: &str, value: Option<&str>| match value {
        Some(value) => format!(" --{name} {}", quoted(value)),
        None => String::new(),
    };
    let path = |name: &str, path: Option<&Path>| option(name, path.map(|path| path.display().to_string()).as_deref());
    let rest = path("chdir", chdir) + &path("trust-policy", trust.trust_policy.as_deref());
    Given { from: option("from", lookup.from.as_deref()), rest }
}

/// The word as a shell takes it for one.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, want: &str) {
        assert_eq!(quoted(word), want);
    }

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        check("oci:layout", "oci:layout");
        check("ghcr.io/acme/${type}", "'ghcr.io/acme/${type}'");
        check("my files", "'my files'");
        check("it's", r"'it'\''s'");
        check("", "''");
    }
}

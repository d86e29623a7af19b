//! Commands that hints advise, with the options that this run was given: what is printed can be run as it stands.
//!
//! What was typed is kept as clap read it, so that no option is forgotten here. A hint gets those options that its own
//! verb takes too. What a variable says holds for the next command as well and is not repeated.

use std::fmt::Write as _;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use tofu_oci_types::ProviderAddr;

use crate::args::Timeout;

/// What was typed.
static GIVEN: OnceLock<Given> = OnceLock::new();

/// Options that say how a registry is reached: they are the same for everybody.
const REACH: &[&str] = &["ca-file", "plain-http", "token-host", "attempts", "max-wait", "timeout"];

/// Options that say where to look and who asks.
const OWN: &[&str] = &[
    "from",
    "magic-suffix",
    "private-host",
    "chdir",
    "trust-policy",
    "platform",
    "client-cert",
    "client-key",
    "anonymous",
    "username",
    "password-stdin",
];

/// A command line, taken apart.
#[derive(Debug, Default)]
struct Given {
    /// `install`, or `config check`.
    verb: String,
    /// What has no name: addresses, repositories, folders.
    words: Vec<String>,
    options: Vec<Typed>,
    /// The time in force, by the option, the variable or default; `None` if the verb has none.
    timeout: Option<Timeout>,
}

/// One option that was typed.
#[derive(Debug)]
struct Typed {
    name: String,
    /// None for a switch.
    values: Vec<String>,
}

/// Keeps what was typed. `declared` is the command that has read it.
pub(crate) fn remember(declared: &Command, matches: &ArgMatches) {
    let _ = GIVEN.set(Given::of(declared, matches));
}

/// `tofu-oci` with these words, and where this run was told to look.
pub(crate) fn command(words: &str) -> String {
    given().command(words, &[REACH, OWN].concat())
}

/// The same for somebody else, who has a login and files of their own.
pub(crate) fn command_for_others(words: &str) -> String {
    given().command(words, REACH)
}

/// The option that gives this command twice its time; `None` if it has the longest already. A verb that takes no
/// `--timeout` has the default.
pub(crate) fn more_time() -> Option<String> {
    given().timeout.unwrap_or_default().doubled().map(|time| format!("--timeout {time}"))
}

/// The same with every option that was typed and that the other verb takes.
pub(crate) fn with_all_options(words: &str) -> String {
    given().line(words, |_| true)
}

/// This very command without an option.
pub(crate) fn this_without(option: &str) -> String {
    let given = given();
    let words: Vec<String> = given.words.iter().map(|word| quoted(word)).collect();
    let words = [vec![given.verb.clone()], words].concat().join(" ");
    given.line(&words, |name| name != option)
}

/// The command that lists the versions of a provider where this run was told to look.
pub(crate) fn versions(address: &ProviderAddr) -> String {
    let given = given();
    if given.options.iter().any(|option| option.name == "from") {
        command(&format!("versions {address}"))
    } else {
        command(&format!("versions {address} --provider"))
    }
}

fn given() -> &'static Given {
    static NOTHING: OnceLock<Given> = OnceLock::new();
    GIVEN.get().unwrap_or_else(|| NOTHING.get_or_init(Given::default))
}

impl Given {
    fn of(declared: &Command, matches: &ArgMatches) -> Self {
        let mut given = Self::default();
        let (mut declared, mut matches) = (declared, matches);
        while let Some((name, inner)) = matches.subcommand() {
            let Some(found) = declared.find_subcommand(name) else { break };
            let gap = if given.verb.is_empty() { "" } else { " " };
            given.verb = format!("{}{gap}{name}", given.verb);
            (declared, matches) = (found, inner);
        }
        given.timeout = matches.try_get_one("timeout").ok().flatten().copied();
        for argument in declared.get_arguments() {
            let id = argument.get_id().as_str();
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let values = || matches.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
            match argument.get_long() {
                Some(name) if argument.get_action().takes_values() => {
                    given.options.push(Typed { name: name.to_owned(), values: values().collect() });
                }
                Some(name) => given.options.push(Typed { name: name.to_owned(), values: Vec::new() }),
                None => given.words.extend(values()),
            }
        }
        given
    }

    fn command(&self, words: &str, carried: &[&str]) -> String {
        self.line(words, |name| carried.contains(&name))
    }

    /// The words, and what was typed of the options that their verb takes and that they do not say themselves.
    fn line(&self, words: &str, carried: impl Fn(&str) -> bool) -> String {
        let mut line = format!("tofu-oci {words}");
        let root = crate::args::command();
        let mut verb = &root;
        for word in words.split(' ') {
            match verb.find_subcommand(word) {
                Some(found) => verb = found,
                None => break,
            }
        }
        let takes = |name: &str| verb.get_arguments().any(|argument| argument.get_long() == Some(name));
        let says = |name: &str| words.split(' ').any(|word| word.strip_prefix("--") == Some(name));
        for Typed { name, values } in &self.options {
            if !carried(name) || !takes(name) || says(name) {
                continue;
            }
            if values.is_empty() {
                // Writing to a String cannot fail.
                let _ = write!(line, " --{name}");
            }
            for value in values {
                let _ = write!(line, " --{name} {}", quoted(value));
            }
        }
        line
    }
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
    fn check_word(word: &str, want: &str) {
        assert_eq!(quoted(word), want);
    }

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        check_word("oci:layout", "oci:layout");
        check_word("ghcr.io/acme/${type}", "'ghcr.io/acme/${type}'");
        check_word("my files", "'my files'");
        check_word("it's", r"'it'\''s'");
        check_word("", "''");
    }

    /// What a hint of a run with these words advises.
    #[track_caller]
    fn check(typed: &[&str], words: &str, want: &str) {
        let declared = crate::args::command();
        let matches =
            declared.clone().try_get_matches_from([&["tofu-oci"], typed].concat()).expect("it is well-formed");
        assert_eq!(Given::of(&declared, &matches).command(words, &[REACH, OWN].concat()), want);
    }

    const LOCK: &[&str] = &[
        "lock",
        "example.com/a/b",
        "--check",
        "--from",
        "r.example/${type}",
        "--chdir",
        "my dir",
        "--plain-http",
        "r.example,s.example",
        "--platform",
        "linux_amd64",
        "--jobs",
        "3",
        "--anonymous",
    ];

    #[test]
    fn a_hint_has_the_options_that_its_verb_takes() {
        check(
            LOCK,
            "verify example.com/a/b@1.0.0",
            "tofu-oci verify example.com/a/b@1.0.0 --from 'r.example/${type}' --chdir 'my dir' --plain-http r.example \
             --plain-http s.example --anonymous",
        );
        check(
            LOCK,
            "versions example.com/a/b",
            "tofu-oci versions example.com/a/b --from 'r.example/${type}' --plain-http r.example --plain-http s.example --anonymous",
        );
        check(LOCK, "config check", "tofu-oci config check --chdir 'my dir'");
        check(&["lock"], "verify example.com/a/b@1.0.0", "tofu-oci verify example.com/a/b@1.0.0");
    }

    #[test]
    fn a_hint_that_says_an_option_itself_says_it_once() {
        check(
            &["install", "example.com/a/b", "--platform", "linux_amd64", "--from", "oci:x"],
            "lock example.com/a/b --platform darwin_arm64",
            "tofu-oci lock example.com/a/b --platform darwin_arm64 --from oci:x",
        );
    }

    #[test]
    fn the_time_in_force_is_known_to_hints() {
        let declared = crate::args::command();
        for (typed, want) in [
            (&["versions", "r.example/a", "--timeout", "90"][..], Some("90s")),
            (&["pack", "dist", "oci:x", "--timeout", "5m"], Some("5m")),
            (&["config", "check"], None),
        ] {
            let words = [&["tofu-oci"], typed].concat();
            let matches = declared.clone().try_get_matches_from(words).expect("it is well-formed");
            let timeout = Given::of(&declared, &matches).timeout;
            assert_eq!(timeout.map(|time| time.to_string()).as_deref(), want, "{typed:?}");
        }
    }

    #[test]
    fn every_option_that_is_carried_is_one_of_some_verb() {
        let declared = crate::args::command();
        let verbs: Vec<&Command> =
            declared.get_subcommands().flat_map(|verb| std::iter::once(verb).chain(verb.get_subcommands())).collect();
        for name in REACH.iter().chain(OWN) {
            let known =
                verbs.iter().flat_map(|verb| verb.get_arguments()).any(|argument| argument.get_long() == Some(*name));
            assert!(known, "--{name}");
        }
    }
}

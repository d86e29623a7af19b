//! What can stand in an argument. The name of its value decides, so that every verb has the same.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use tofu_oci_checker::rules;

use super::versions::{self, VersionsOf};
use crate::args;
use crate::handbook::{TOPICS, codes};

/// The platforms that providers are released for.
const PLATFORMS: [&str; 14] = [
    "linux_amd64",
    "linux_arm64",
    "darwin_arm64",
    "darwin_amd64",
    "windows_amd64",
    "windows_arm64",
    "linux_386",
    "linux_arm",
    "windows_386",
    "freebsd_386",
    "freebsd_amd64",
    "freebsd_arm",
    "freebsd_arm64",
    "openbsd_amd64",
];

/// The declared command, each argument with its candidates.
pub(super) fn command() -> Command {
    args::each(args::command(), &with_candidates)
}

fn with_candidates(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
    match name.as_str() {
        "OS_ARCH" => argument.add(ArgValueCandidates::new(|| PLATFORMS.map(CompletionCandidate::new).into())),
        "RULE" => argument.add(ArgValueCandidates::new(rule_names)),
        "TOPIC" => argument.add(ArgValueCandidates::new(topics)),
        "V" | "VERSION" => argument.add(ArgValueCompleter::new(version_of_the_line)),
        "DIR" | "DIST" => argument.value_hint(ValueHint::DirPath),
        "FILE" | "KEY" => argument.value_hint(ValueHint::AnyPath),
        name if ["REPOSITORY", "TARGET", "SRC", "DEST", "ADDR", "oci:DIR"].iter().any(|one| name.starts_with(one)) => {
            argument.add(ArgValueCompleter::new(subject))
        }
        _ => argument,
    }
}

fn rule_names() -> Vec<CompletionCandidate> {
    rules().map(|rule| CompletionCandidate::new(rule.id).help(Some(rule.finds.into()))).collect()
}

/// What follows `help`: a topic or a verb, and after `check` and `error` a rule or a code.
fn topics() -> Vec<CompletionCandidate> {
    let words = versions::typed();
    let before = words.len().checked_sub(2).and_then(|nth| words[nth].to_str());
    match before {
        Some("help") => {
            let pages = TOPICS.iter().map(|topic| CompletionCandidate::new(topic.name).help(Some(topic.about.into())));
            let others = [args::REGISTRY_ACCESS_TOPIC, "error"].map(CompletionCandidate::new);
            let command = args::command();
            let verbs = command
                .get_subcommands()
                .map(|verb| CompletionCandidate::new(verb.get_name()).help(verb.get_about().cloned()));
            pages.chain(others).chain(verbs).collect()
        }
        Some("check") => rule_names(),
        Some("error") => codes().into_iter().map(CompletionCandidate::new).collect(),
        Some(verb) => {
            let command = args::command();
            let verbs = command.find_subcommand(verb).into_iter().flat_map(Command::get_subcommands);
            verbs.map(|verb| CompletionCandidate::new(verb.get_name())).collect()
        }
        None => Vec::new(),
    }
}

/// A place or a provider, and after `:` or `@` its versions.
fn subject(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(text) = current.to_str() else { return Vec::new() };
    if let Some(rest) = text.strip_prefix("oci:") {
        return match rest.rsplit_once(':') {
            Some((dir, _)) if Path::new(dir).is_dir() => {
                versions_after(&text[..text.len() - rest.len() + dir.len()], ':', text)
            }
            _ => {
                PathCompleter::dir().complete(OsStr::new(rest)).into_iter().map(|dir| dir.add_prefix("oci:")).collect()
            }
        };
    }
    if let Some((address, _)) = text.split_once('@') {
        return versions_after(address, '@', text);
    }
    match text.rsplit_once(':') {
        Some((repository, tag)) if repository.contains('/') && !tag.contains('/') => {
            versions_after(repository, ':', text)
        }
        _ if text.starts_with(['.', '/']) => PathCompleter::any().complete(current),
        _ if "oci:".starts_with(text) => vec![CompletionCandidate::new("oci:").help(Some("a directory".into()))],
        _ => Vec::new(),
    }
}

/// The versions of a subject, after it and its mark, as far as they go on from what was typed.
fn versions_after(subject: &str, mark: char, text: &str) -> Vec<CompletionCandidate> {
    let subject = if mark == '@' { VersionsOf::Address(subject) } else { VersionsOf::Place(subject) };
    let words = versions::of(subject).into_iter().map(|version| format!("{subject}{mark}{version}"));
    in_order(words.filter(|word| word.starts_with(text)))
}

/// The versions of the place that the line names.
fn version_of_the_line(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(place) = versions::place_of_the_line() else { return Vec::new() };
    let versions = versions::of(VersionsOf::Place(&place)).into_iter().map(|version| version.to_string());
    in_order(versions.filter(|version| current.to_str().is_some_and(|typed| version.starts_with(typed))))
}

fn in_order(words: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    words.enumerate().map(|(nth, word)| CompletionCandidate::new(word).display_order(Some(nth))).collect()
}

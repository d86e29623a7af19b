//! The name that is nearest to a misspelt one, unknown verbs, and options that exclude each other.

use clap::Command;
use clap::error::{ContextKind, ContextValue};
use similar::TextDiff;

use super::other_words::instead;
use crate::diagnostic::Diagnostic;

/// The name that is nearest to a misspelt one, if one is near.
pub(crate) fn nearest<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Below it two names are not taken for one that is misspelt.
    const NEAR: f32 = 0.75;
    // A much longer name is never near, and comparing it would take long.
    let alike = all.filter(|one| name.len() <= 4 * one.len());
    let near = alike.map(|one| (TextDiff::from_chars(one, name).ratio(), one)).filter(|(ratio, _)| *ratio >= NEAR);
    near.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, one)| one)
}

/// A verb that this program lacks: what does its work, or the verb that is nearest. `words` is the whole command line.
pub(super) fn unknown_verb(typed: &str, words: &[String], declared: &Command) -> Diagnostic {
    let before = words.iter().position(|word| word == typed).map_or(&[][..], |nth| &words[..nth]);
    let (group, group_name) = verb_of(before, declared);
    let (name, lists) = if group_name.is_empty() {
        (typed.to_owned(), "`tofu-oci --help` lists all verbs".to_owned())
    } else {
        (format!("{group_name} {typed}"), format!("`tofu-oci {group_name} --help` lists its verbs"))
    };
    let mut hints = instead(&name, declared);
    if hints.is_empty() {
        let gap = if group_name.is_empty() { "" } else { " " };
        let line = format!("tofu-oci{gap}{group_name}");
        let near_in =
            |group: &Command| nearest(typed, group.get_subcommands().map(Command::get_name)).map(str::to_owned);
        // `trust show` means `trust root show`.
        let below = || {
            let mut inner = group.get_subcommands().filter(|_| !group_name.is_empty());
            inner.find_map(|inner| Some(format!("{} {}", inner.get_name(), near_in(inner)?)))
        };
        hints.extend(near_in(group).or_else(below).map(|near| format!("did you mean: {line} {near}")));
    }
    Diagnostic::usage(format!("`tofu-oci` has no verb `{name}`")).more_hints(hints).hint(lists)
}

/// An argument that the verb lacks. A word is not shown if it may be a password: the verb is about logins, or an option is.
pub(super) fn unexpected(typed: &str, verb: &Command, words: &[String]) -> Diagnostic {
    let is_option = |word: &String| {
        let is_short = ["--username", "-u", "-p"].iter().any(|start| word.starts_with(start));
        is_short || (word.starts_with('-') && word.contains("password"))
    };
    let is_about_logins = ["login", "logout", "explain"].contains(&verb.get_name()) || words.iter().any(is_option);
    if typed.starts_with('-') || !is_about_logins {
        return Diagnostic::usage(format!("unexpected argument `{typed}`"));
    }
    Diagnostic::usage("one argument is too many; it may be a password, so it is not shown")
}

/// Options that exclude each other.
pub(super) fn conflict(error: &clap::Error, words: &[String], declared: &Command) -> Option<Diagnostic> {
    let Some(ContextValue::String(one)) = error.get(ContextKind::InvalidArg) else { return None };
    let others = match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(other)) => std::slice::from_ref(other),
        Some(ContextValue::Strings(others)) => others,
        _ => return None,
    };
    let option = |shown: &String| shown.split(' ').next().unwrap_or_default().to_owned();
    let (_, name) = verb_of(words, declared);
    if others == [one.clone()] {
        return Some(
            Diagnostic::usage(format!("the argument '{one}' cannot be used multiple times"))
                .hint(format!("give {} once", option(one))),
        );
    }
    let quoted: Vec<String> = others.iter().map(|other| format!("'{other}'")).collect();
    let plain: Vec<String> = others.iter().map(option).collect();
    Some(
        Diagnostic::usage(format!("the argument '{one}' cannot be used with {}", quoted.join(", ")))
            .hint(format!("omit {} or {}", option(one), plain.join(", ")))
            .hint(format!("`tofu-oci help {name}` says what each is for")),
    )
}

/// The verb of a command line, and its name. A line without a verb gives the program itself and an empty name.
pub(super) fn verb_of<'a>(words: &[String], declared: &'a Command) -> (&'a Command, String) {
    let (mut verb, mut name) = (declared, String::new());
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let Some(found) = verb.find_subcommand(word) else {
            if name.is_empty() {
                continue;
            }
            break;
        };
        let gap = if name.is_empty() { "" } else { " " };
        name = format!("{name}{gap}{word}");
        verb = found;
    }
    (verb, name)
}

/// The command line with the right word in the place of the first one that was typed so, or of the option in it.
pub(super) fn with(words: &[String], typed: &str, right: &str) -> Vec<String> {
    let mut words = words.to_vec();
    let is_typed = |word: &&mut String| word.split('=').next() == Some(typed);
    if let Some(word) = words.iter_mut().find(is_typed) {
        word.replace_range(..typed.len(), right);
    }
    words
}

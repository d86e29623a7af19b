//! Options that were typed before the verb that takes them.

use std::cell::LazyCell;
use std::ffi::OsString;

use clap::Command;

/// The words with the options of the verb that stand before it behind it, so that the verb takes or refuses them. `all` has
/// the arguments of every verb; `declared` needs those of the verbs that the words name.
pub(super) fn ordered(
    words: impl IntoIterator<Item = OsString>,
    declared: &Command,
    all: &LazyCell<Command, impl FnOnce() -> Command>,
) -> Vec<OsString> {
    let mut words = words.into_iter();
    let (mut verb, mut front, mut moved) = (declared, Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default().to_owned();
        if let Some(found) = verb.find_subcommand(&text) {
            front.push(word);
            verb = found;
            if !verb.has_subcommands() {
                break;
            }
            continue;
        }
        let long = text.strip_prefix("--").and_then(|option| option.split('=').next()).filter(|long| !long.is_empty());
        let own = long.and_then(|long| has_value(declared, long));
        let group = || if std::ptr::eq(verb, declared) { LazyCell::force(all) } else { verb };
        let of_verbs = long.filter(|_| own.is_none()).and_then(|long| below(group(), long));
        let place = if of_verbs.is_some() { &mut moved } else { &mut front };
        place.push(word);
        if own.or(of_verbs) == Some(true) && !text.contains('=') {
            place.extend(words.next());
        } else if !text.starts_with('-') || text == "--" {
            break;
        }
    }
    front.into_iter().chain(moved).chain(words).collect()
}

/// Whether an option of the command has a value; `None` if there is no such option.
fn has_value(command: &Command, long: &str) -> Option<bool> {
    let option = command.get_arguments().find(|option| option.get_long() == Some(long))?;
    Some(option.get_action().takes_values())
}

/// Whether an option of the verbs below has a value; `None` if none has the option, or if they differ.
fn below(command: &Command, long: &str) -> Option<bool> {
    let mut all = command.get_subcommands().filter_map(|verb| has_value(verb, long).or_else(|| below(verb, long)));
    let first = all.next()?;
    all.all(|one| one == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, want: &str) {
        let names = crate::args::with_verbs(&|name| typed.split(' ').any(|word| word == name));
        let words = ordered(typed.split(' ').map(OsString::from), &names, &LazyCell::new(crate::args::declared));
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        assert_eq!(words.join(" "), want);
    }

    #[test]
    fn options_before_the_verb_were_refused_by_all_verbs() {
        check("--chdir D lock --check", "lock --chdir D --check");
        check("--chdir=lock --json config check", "config check --chdir=lock --json");
        check("config --chdir lock check", "config check --chdir lock");
        check("-v --color never --json lock", "-v --color never lock --json");
        check("--template T run -- tofu init", "run --template T -- tofu init");
        check("--json --version", "--version --json");
        check("--chdir D nope --json", "nope --chdir D --json");
        check("--nope lock", "--nope lock");
        check("lock --chdir D", "lock --chdir D");
        check("-- --json lock", "-- --json lock");
    }
}

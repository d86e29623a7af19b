//! Commands for hints, with the options of this run, so that the user can run them as printed.
//!
//! It keeps the options as clap read them, so that none is forgotten. A hint repeats the options that its own verb takes
//! too. The values of variables hold for the next command as well, and are not repeated.

use std::fmt::Write as _;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use tofu_oci_trust::TrustRule;
use tofu_oci_types::{Place, ProviderAddr, Version};

pub(crate) use tofu_oci_types::quoted;

use crate::args::{
    ConfigTestsArgs, IdentityArgs, LookupArgs, ModuleMappingArgs, Network, RenameArgs, Timeout, TrustArgs,
};

/// What was typed.
static GIVEN: OnceLock<Given> = OnceLock::new();

/// Options that a hint repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    /// Those that say how to reach a registry: they are the same for every user.
    Reach,
    /// Beside these those that say where to look, as whom, and what counts.
    Own,
}

impl Carried {
    fn holds(self, name: &str) -> bool {
        let of_a_user = ["client-cert", "client-key"].contains(&name);
        declares::<Network>(name) && !of_a_user
            || self == Self::Own
                && (of_a_user
                    || ["chdir", "platform"].contains(&name)
                    || declares::<LookupArgs>(name)
                    || declares::<IdentityArgs>(name)
                    || declares::<TrustArgs>(name)
                    || declares::<RenameArgs>(name)
                    || declares::<ModuleMappingArgs>(name)
                    || declares::<ConfigTestsArgs>(name))
    }
}

/// Whether these arguments have an option of this name.
fn declares<A: Args>(name: &str) -> bool {
    A::augment_args(Command::new("")).get_arguments().any(|argument| argument.get_long() == Some(name))
}

/// A command line, taken apart.
#[derive(Debug, Default)]
struct Given {
    /// `install`, or `config check`.
    verb: String,
    /// Arguments without a name: addresses, repositories, folders.
    words: Vec<String>,
    options: Vec<Typed>,
    /// The names of all options that the verb has.
    declared: Vec<String>,
    /// The time in force, by the option, the variable or default; `None` if the verb has none.
    timeout: Option<Timeout>,
}

/// One option that was typed.
#[derive(Debug)]
struct Typed {
    name: String,
    /// Empty for a switch.
    values: Vec<String>,
}

/// Keeps what was typed. `declared` is the command that has read it.
pub(crate) fn remember(declared: &Command, matches: &ArgMatches) {
    let _ = GIVEN.set(Given::of(declared, matches));
}

/// `tofu-oci` with these words, and the options that say where this run looks.
pub(crate) fn command(words: &str) -> String {
    given().line(words, |name| Carried::Own.holds(name))
}

/// The same for words that name a place: `--from` would name another one.
pub(crate) fn command_about_place(words: &str) -> String {
    given().line(words, |name| name != "from" && Carried::Own.holds(name))
}

/// `tofu-oci lock` for every platform, with the options that say where this run looks. It names these addresses if this
/// run was given any; otherwise the configuration has them.
pub(crate) fn lock_all_platforms<'a>(addresses: impl Iterator<Item = &'a ProviderAddr>) -> String {
    let given = given();
    let words = std::iter::once("lock".to_owned()).chain(addresses.map(ToString::to_string));
    let words: Vec<String> = words.take(if given.words.is_empty() { 1 } else { usize::MAX }).collect();
    given.line(&words.join(" "), |name| name != "platform" && Carried::Own.holds(name))
}

/// How a publisher signs a release so that a rule is satisfied, to follow `its publisher signs it`. Only repositories can be
/// signed in.
pub(crate) fn sign(place: &Place, version: Option<&Version>, rule: &TrustRule) -> String {
    if !matches!(place, Place::Registry(_) | Place::Layout(_)) {
        return " with `tofu-oci sign` in its repository; then fetch it again".to_owned();
    }
    let version = version.map_or_else(|| "VERSION".to_owned(), ToString::to_string);
    let release = quoted(&format!("{place}:{version}"));
    if !rule.has_identities_alone() {
        return format!(": {}", command_for_others(&format!("sign {release} --key KEY")));
    }
    let attach = command_for_others(&format!("attach BUNDLE {release}"));
    // What demands provenance is not met by a signature.
    if rule.build.is_some() {
        return format!(": {attach}");
    }
    format!(": {}, or {attach}", command_for_others(&format!("sign {release} --keyless")))
}

/// The same for another user, who has a login and files of their own.
pub(crate) fn command_for_others(words: &str) -> String {
    given().line(words, |name| Carried::Reach.holds(name))
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
    given().again(given().words.iter().map(|word| quoted(word)), |name| name != option)
}

/// This very command with another argument in place of this one, or of the one that ends with it; `instead` is quoted
/// already.
pub(crate) fn with_word(word: &str, instead: &str) -> String {
    let words = &given().words;
    let nth = words.iter().position(|typed| typed == word);
    let nth = nth.or_else(|| words.iter().position(|typed| typed.ends_with(word)));
    let mut words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    match nth {
        Some(nth) => instead.clone_into(&mut words[nth]),
        None => words.push(instead.to_owned()),
    }
    given().again(words.into_iter(), |_| true)
}

/// This very command with this argument before the others.
pub(crate) fn with_first(first: &str) -> String {
    let others = given().words.iter().map(String::as_str).filter(|word| *word != first);
    given().again(std::iter::once(first).chain(others).map(quoted), |_| true)
}

/// The verb of this run, such as `install` or `config check`.
pub(crate) fn verb() -> &'static str {
    &given().verb
}

/// The one value of an option that was typed.
pub(crate) fn value_of(option: &str) -> Option<&'static str> {
    match given().options.iter().find(|typed| typed.name == option)?.values.as_slice() {
        [value] => Some(value),
        _ => None,
    }
}

/// Whether this option was typed.
pub(crate) fn says(option: &str) -> bool {
    given().options.iter().any(|typed| typed.name == option)
}

/// Whether this run's verb has this option. Without a verb nothing is known of that.
pub(crate) fn takes(option: &str) -> bool {
    given().verb.is_empty() || given().declared.iter().any(|name| name == option)
}

/// The first argument without a name that is so.
pub(crate) fn word_where(is_so: impl Fn(&str) -> bool) -> Option<&'static str> {
    given().words.iter().map(String::as_str).find(|word| is_so(word))
}

/// The first argument without a name.
pub(crate) fn first_word() -> Option<&'static str> {
    given().words.first().map(String::as_str)
}

/// The second argument without a name.
pub(crate) fn second_word() -> Option<&'static str> {
    given().words.get(1).map(String::as_str)
}

/// Whether this run's verb is about modules alone.
pub(crate) fn is_about_modules() -> bool {
    given().verb.starts_with("module ")
}

/// How to run this verb without a configuration; `None` if it needs one.
pub(crate) fn name_a_provider() -> Option<String> {
    let verb = Some(given().verb.as_str()).filter(|verb| ["install", "lock"].contains(verb))?;
    Some(format!("name a provider: {}", with_all_options(&format!("{verb} HOST/NAMESPACE/TYPE"))))
}

/// How this run's verb takes a version, to follow the advice to name a repository.
pub(crate) fn and_the_version() -> &'static str {
    match given().verb.as_str() {
        "install" | "lock" | "verify" | "show" | "mirror" | "bundle create" => {
            ", and the version after the address: ADDR@VERSION"
        }
        "resolve" | "versions" | "outdated" | "serve" | "providers" => "",
        _ => ", and the version with --version",
    }
}

/// The command that lists the versions of a provider in the places where this run looks.
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
        given.declared =
            declared.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned).collect();
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

    /// The verb with these arguments, and the typed options that count.
    fn again(&self, words: impl Iterator<Item = String>, carried: impl Fn(&str) -> bool) -> String {
        let words: Vec<String> = std::iter::once(self.verb.clone()).chain(words).collect();
        self.line(&words.join(" "), carried)
    }

    /// The words, and the typed options that their verb takes and that the words do not contain.
    fn line(&self, words: &str, carried: impl Fn(&str) -> bool) -> String {
        let mut line = format!("tofu-oci {words}");
        let root = crate::args::with_verbs(&|name| words.split(' ').next() == Some(name));
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
            // Hints are for people.
            if name == "json" || !carried(name) || !takes(name) || says(name) {
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

#[cfg(test)]
mod tests;

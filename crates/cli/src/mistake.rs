//! What was meant by a wrong argument, if this program knows better advice than clap: verbs of other tools, lists of
//! platforms, values that a variable gives.

mod missing;
mod moved;
mod near;
mod other_words;

use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use tofu_oci_types::{ModuleName, ProviderAddr, ReleaseName, Version};

use crate::args;
use crate::diagnostic::Diagnostic;
use crate::exit::{self, Exit};
use crate::invocation;
use crate::program::PROGRAM;
use crate::report::JsonLines;
use crate::subject;
pub(crate) use missing::nothing_to_mirror;
use missing::{free, no_file_or_release, no_folder, no_pattern, nothing_to_run};
use moved::moved;
pub(crate) use near::nearest;
use near::{conflict, unexpected, unknown_verb, verb_of, with};
pub(crate) use other_words::instead;

/// What does the work of an option that a verb lacks.
#[derive(Clone, Copy)]
enum Instead {
    /// An option of the verb, whichever verbs have it.
    Option(&'static str),
    /// Other advice, for these verbs; without verbs, for all that reach a registry.
    Advice(&'static [&'static str], &'static str),
}

/// What does the work of options that check no certificate.
const WITHOUT_TLS: &str = "for a registry that speaks plain HTTP: --plain-http HOST[:PORT]; for one with a certificate of your own: \
     --ca-file FILE";

/// Options that other verbs and tools have, and what does the same here.
const OTHER_OPTIONS: &[(&str, Instead)] = &[
    ("--force", Instead::Option("--replace-tag")),
    ("--overwrite", Instead::Option("--replace-tag")),
    ("--message", Instead::Option("--reason")),
    ("--reason", Instead::Option("--message")),
    ("--key", Instead::Option("--sign-key")),
    ("--tag", Instead::Option("--version")),
    ("--dry-run", Instead::Option("--plan")),
    ("--plan", Instead::Option("--dry-run")),
    ("--dry-run", Instead::Option("--check")),
    ("--plan", Instead::Option("--check")),
    ("--dir", Instead::Option("--chdir")),
    ("--from", Instead::Option("--template")),
    ("--fs-mirror", Instead::Option("--plugin-dir")),
    ("--net-mirror", Instead::Option("--from")),
    ("--insecure", Instead::Advice(&[], WITHOUT_TLS)),
    ("--tls-verify", Instead::Advice(&[], WITHOUT_TLS)),
    ("--insecure-skip-tls-verify", Instead::Advice(&[], WITHOUT_TLS)),
    ("--allow-insecure", Instead::Advice(&[], WITHOUT_TLS)),
    ("--dest", Instead::Option("--to")),
    ("--destination", Instead::Option("--to")),
    ("--template", Instead::Option("--from")),
    ("--provider", Instead::Option("--include")),
    ("--port", Instead::Option("--listen")),
    ("--port", Instead::Advice(&["run"], "`run` chooses a free port itself")),
    ("-p", Instead::Option("--listen")),
    ("-C", Instead::Option("--chdir")),
    ("-C", Instead::Advice(&["run"], "give it to the command: tofu-oci run -- tofu -chdir=DIR init")),
    ("-k", Instead::Advice(&[], WITHOUT_TLS)),
    ("-o", Instead::Option("--json")),
    ("--output", Instead::Option("--json")),
    ("--format", Instead::Option("--json")),
    ("--chdir", Instead::Advice(&["run"], "give it to the command: tofu-oci run -- tofu -chdir=DIR init")),
    ("--older-than", Instead::Option("--unused-for")),
    ("--all", Instead::Advice(&["cache prune"], "to remove every package: tofu-oci cache prune --max-size 0")),
    ("--force", Instead::Advice(&["cache prune"], "to remove every package: tofu-oci cache prune --max-size 0")),
    (
        "--cache-dir",
        Instead::Advice(
            &["install", "cache info", "cache prune", "cache verify"],
            "the variable TOFU_OCI_CACHE_DIR names the folder of the package cache: tofu-oci help caching",
        ),
    ),
    ("--to", Instead::Advice(&["bundle load"], "write the destination after the file: tofu-oci bundle load FILE DEST")),
    (
        "--small",
        Instead::Advice(
            &["copy"],
            "`push` and `pack` make small layers with --small; `copy` always carries them along",
        ),
    ),
];

/// How a password is given, where it was typed as an argument.
const PIPE: &str = "a password comes by standard input: printf %s \"$PASSWORD\" | tofu-oci VERB … --password-stdin";

/// Refuses arguments that contain the text of a private key. No message repeats such an argument, as other refusals
/// would.
pub(crate) fn typed_key() -> Option<Diagnostic> {
    std::env::args_os().any(|argument| argument.to_string_lossy().contains("PRIVATE KEY-----")).then(|| {
        Diagnostic::usage("an argument is the text of a private key")
            .code("private-key")
            .hint("name its file, or the variable that has it: env://COSIGN_KEY")
            .hint("other programs of this machine can read arguments: if this machine is shared, replace the key")
    })
}

/// Prints what is wrong with the arguments, or the help or version that they ask for.
pub(crate) fn end(error: &clap::Error, declared: &Command) -> Exit {
    if error.kind() == ErrorKind::DisplayVersion && args::ask_for_json() {
        JsonLines.add(&PROGRAM);
        return Exit::Done;
    }
    let json = error.use_stderr() && args::ask_for_json();
    let Some(diagnostic) = diagnostic(error, declared) else {
        if json {
            Diagnostic::from(error).print_json();
        }
        return exit::from_clap(error);
    };
    diagnostic.print(json);
    diagnostic.exit()
}

fn diagnostic(error: &clap::Error, declared: &Command) -> Option<Diagnostic> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let words = || {
        let words: Vec<String> = args::words().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (own, of_command) = words.split_at(words.iter().position(|word| word == "--").unwrap_or(words.len()));
        // Hints are for people.
        own.iter().filter(|word| *word != "--json").chain(of_command).cloned().collect::<Vec<_>>()
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            Some(unknown_verb(context(ContextKind::InvalidSubcommand)?, &words(), declared))
        }
        ErrorKind::ValueValidation => {
            let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
            if option.starts_with("--username") {
                return Some(Diagnostic::usage("the name for --username has a colon, and cannot be sent").hint(PIPE));
            }
            let text = error.to_string();
            let diagnostic = Diagnostic::usage(text.strip_prefix("error: ").unwrap_or(&text).lines().next()?);
            if let Some(hint) = option.starts_with("--platform").then(|| platforms(value)).flatten() {
                return Some(diagnostic.hint(hint));
            }
            let long = option.split(' ').next()?;
            let is_typed =
                |word: &str| word.strip_prefix(long).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
            let typed = words().iter().any(|word| is_typed(word));
            let variable = if typed { None } else { variable(long, declared) };
            variable.map(|variable| diagnostic.hint(format!("the variable {variable} says so: change it, or unset it")))
        }
        ErrorKind::TooManyValues if context(ContextKind::InvalidArg)?.ends_with("password-stdin") => {
            let option = context(ContextKind::InvalidArg)?;
            Some(Diagnostic::usage(format!("{option} takes no value: it reads standard input")).hint(PIPE))
        }
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
            let lacks = |name: &str| missing.iter().any(|argument| argument.starts_with(name));
            if lacks("<COMMAND>...") {
                return Some(nothing_to_run());
            }
            if missing.len() == 1 && (lacks("<DEST>") || lacks("<oci:DIR>")) {
                return no_folder(&words(), declared);
            }
            if missing.len() == 1 && lacks("<FILE>...") {
                return no_file_or_release(&words(), declared);
            }
            if lacks("<REPOSITORY-TEMPLATE>") {
                let words = words();
                let mut words = words.iter().filter(|word| !word.starts_with('-'));
                let verb = format!("{} {}", words.next()?, words.next()?);
                return words.next().and_then(|word| no_pattern(&verb, word));
            }
            None
        }
        ErrorKind::UnknownArgument => {
            let (typed, words) = (context(ContextKind::InvalidArg)?, words());
            Some(other_option(typed, &words, declared).unwrap_or_else(|| unknown_argument(typed, &words, declared)))
        }
        ErrorKind::ArgumentConflict => conflict(error, &words(), declared),
        _ => None,
    }
}

/// What to write instead of an option with one dash (as OpenTofu has them), of an option that has another name here, or
/// of an argument to a verb that takes none. `words` is the whole command line.
fn other_option(typed: &str, words: &[String], declared: &Command) -> Option<Diagnostic> {
    let (verb, name) = verb_of(words, declared);
    let takes = |option: &str| verb.get_arguments().any(|arg| arg.get_long() == Some(option));
    let diagnostic = |word: &str| Diagnostic::usage(format!("unexpected argument `{word}`"));
    if typed.starts_with('-') && verb.has_subcommands() && !name.is_empty() {
        let verbs: Vec<&str> = verb.get_subcommands().map(Command::get_name).collect();
        return Some(diagnostic(typed).hint(format!("`{name}` needs one of its verbs first: {}", verbs.join(", "))));
    }
    if typed == "--json" {
        return Some(diagnostic(typed).hint(if name.is_empty() {
            "name a verb; `tofu-oci -h` lists them".to_owned()
        } else {
            format!("`{name}` has no JSON output: leave --json out")
        }));
    }
    if typed.starts_with("--") || OTHER_OPTIONS.iter().any(|(other, _)| *other == typed) {
        let means = |instead: &Instead| match *instead {
            Instead::Option(option) => {
                takes(option.trim_start_matches('-')).then(|| format!("`{name}` has {option} for it"))
            }
            Instead::Advice([], advice) => takes("plain-http").then(|| advice.to_owned()),
            Instead::Advice(verbs, advice) => verbs.contains(&name.as_str()).then(|| advice.to_owned()),
        };
        if let Some(line) = moved(&name, typed, words) {
            return Some(diagnostic(typed).hint(format!("write {line}")));
        }
        if ["--version", "--tag", "--constraint"].contains(&typed) && !takes("version") {
            return with_version(&name, verb, typed, words).map(|hint| diagnostic(typed).hint(hint));
        }
        let hint = OTHER_OPTIONS.iter().filter(|(other, _)| *other == typed).find_map(|(_, instead)| means(instead))?;
        return Some(diagnostic(typed).hint(hint));
    }
    if typed.starts_with('-') {
        let long = |word: &&String| word.starts_with('-') && !word.starts_with("--") && word.len() > 2;
        let option = |word: &str| word.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
        if let Some(word) = words.iter().filter(long).find(|word| takes(&option(word))) {
            let hint = format!("options have two dashes, and follow the verb: tofu-oci {name} -{word}");
            return Some(diagnostic(word).hint(hint));
        }
        // An option of OpenTofu that has another name here.
        let other = |word: &&String| OTHER_OPTIONS.iter().any(|(other, _)| other[2..] == option(word));
        let word = words.iter().filter(long).find(other)?;
        let same = |one: &String| if one == word { format!("-{one}") } else { one.clone() };
        let words: Vec<String> = words.iter().map(same).collect();
        let found = other_option(&format!("--{}", option(word)), &words, declared)?;
        return Some(diagnostic(word).more_hints(found.hints()));
    }
    if name == "run" {
        let (before, command) = words.split_at(words.iter().position(|word| word == typed)?);
        let shown = |words: &[String]| words.iter().map(|word| invocation::quoted(word)).collect::<Vec<_>>().join(" ");
        let hint = format!("write -- before the command: tofu-oci {} -- {}", shown(before), shown(command));
        return Some(diagnostic(typed).hint(hint));
    }
    if let Some(about) = declared.find_subcommand(typed).and_then(Command::get_about) {
        return Some(diagnostic(typed).hint(format!("`tofu-oci {typed}`: {about}")));
    }
    if let Some(hint) = second_argument(&name, verb, typed, words) {
        return Some(diagnostic(typed).hint(hint));
    }
    if verb.has_subcommands() || verb.get_positionals().next().is_some() || !takes("chdir") {
        return None;
    }
    Some(diagnostic(typed).hint(match name.as_str() {
        "config check" => format!(
            "it reads the files that OpenTofu reads; for one file: TF_CLI_CONFIG_FILE={} tofu-oci {name}",
            invocation::quoted(typed)
        ),
        _ if Path::new(typed).is_dir() => {
            format!("name the directory with --chdir: tofu-oci {name} --chdir {}", invocation::quoted(typed))
        }
        _ => {
            let hint = format!("`{name}` takes no arguments: it is about every provider of a configuration");
            return Some(unexpected(typed, verb, words).hint(hint));
        }
    }))
}

/// An argument that the verb lacks: the option that is nearest, here or under another name, and where all are listed.
/// `words` is the whole command line.
fn unknown_argument(typed: &str, words: &[String], declared: &Command) -> Diagnostic {
    let (verb, name) = verb_of(words, declared);
    let diagnostic = unexpected(typed, verb, words);
    let meant = typed.strip_prefix("--").and_then(|long| {
        let own = verb.get_arguments().filter(|option| !option.is_hide_set()).filter_map(|option| option.get_long());
        let own = own.chain(["help"]).chain(name.is_empty().then_some("version"));
        if let Some(near) = nearest(long, own) {
            return Some(vec![format!("did you mean: --{near}")]);
        }
        let others = OTHER_OPTIONS.iter().filter_map(|(other, _)| other.strip_prefix("--"));
        let near = format!("--{}", nearest(long, others.chain(["version", "tag", "constraint"]))?);
        Some(other_option(&near, &with(words, typed, &near), declared)?.hints().to_vec())
    });
    diagnostic.more_hints(meant.unwrap_or_default()).hint(match name.as_str() {
        "" => "`tofu-oci --help` lists all verbs and the options before them".to_owned(),
        name => format!("`tofu-oci help {name}` lists its arguments and options"),
    })
}

/// How a verb takes the version that an option was to give; `None` if it takes none.
fn with_version(name: &str, verb: &Command, typed: &str, words: &[String]) -> Option<String> {
    let of_modules = ["module pull", "module mirror", "module versions"].contains(&name);
    let of_providers = ["install", "lock", "resolve", "mirror", "bundle create"].contains(&name);
    if !of_modules && !of_providers && !["show", "verify", "versions"].contains(&name) {
        return None;
    }
    let value = |(nth, word): (usize, &String)| match word.strip_prefix(typed)? {
        "" => words.get(nth + 1).cloned(),
        rest => rest.strip_prefix('=').map(str::to_owned),
    };
    let version = words.iter().enumerate().find_map(value)?;
    let nth = name.split(' ').count() + usize::from(name == "bundle create");
    let Some(named) = free(words, verb, typed).nth(nth) else {
        return Some(format!("`{name}` takes the version after the address: ADDR@{version}"));
    };
    let is_address = named.parse::<ProviderAddr>().is_ok();
    let joined = match subject::module(named) {
        _ if names_version(named) => named.clone(),
        Ok(Some(ModuleName::Registry { .. })) => format!("{named}@{version}"),
        Ok(Some(ModuleName::Git(_))) => return Some(format!("write {named}?ref={version}")),
        Ok(Some(ModuleName::Oci(_))) if !named.contains('?') => format!("{named}?tag={version}"),
        Ok(Some(_)) => return None,
        _ if of_modules && !named.starts_with("oci:") => format!("oci://{named}?tag={version}"),
        _ if of_providers || is_address => format!("{named}@{version}"),
        _ => format!("{named}:{version}"),
    };
    let is_option = |nth: usize, word: &String| match word.strip_prefix(typed) {
        Some(rest) => rest.is_empty() || rest.starts_with('='),
        None => nth > 0 && words[nth - 1] == typed,
    };
    let rest = words.iter().enumerate().filter(|(nth, word)| !is_option(*nth, word));
    let rest: Vec<String> =
        rest.map(|(_, word)| invocation::quoted(if word == named { &joined } else { word })).collect();
    let either = is_address && !of_providers && !of_modules;
    let either = if either { format!("; if {named} is a repository, {named}:{version}") } else { String::new() };
    Some(format!("`{name}` takes the version with what it names: tofu-oci {}{either}", rest.join(" ")))
}

/// Whether a word names a version already.
fn names_version(named: &str) -> bool {
    match subject::module(named) {
        Ok(Some(ModuleName::Registry { constraints, .. })) => !constraints.is_any(),
        _ => subject::read(named).is_ok_and(|name| !matches!(name, ReleaseName::Whole(_))),
    }
}

/// `verify` with the file of a key, or a version, as an argument of its own.
fn second_argument(name: &str, verb: &Command, typed: &str, words: &[String]) -> Option<String> {
    if typed.parse::<Version>().is_ok() {
        let words: Vec<String> =
            words.iter().map(|word| if word == typed { format!("--version={word}") } else { word.clone() }).collect();
        return with_version(name, verb, "--version", &words);
    }
    let is_key = |word: &String| Path::new(word).extension().is_some_and(|ending| ending == "pub");
    let nth = words.iter().position(is_key).filter(|nth| name == "verify" && *nth > 0)?;
    let key = Some(&words[nth]).filter(|_| !words[nth - 1].starts_with('-'))?;
    let rest: Vec<String> = words.iter().filter(|word| *word != key).map(|word| invocation::quoted(word)).collect();
    Some(format!("a key is named with --key: tofu-oci {} --key {}", rest.join(" "), invocation::quoted(key)))
}

/// What to write instead of a list of platforms, or of docker's form of one.
fn platforms(value: &str) -> Option<String> {
    let one = |text: &str| text.trim().replace('/', "_");
    let all: Vec<String> = value.split([',', ' ']).filter(|part| !part.is_empty()).map(one).collect();
    let good = all.iter().all(|platform| platform.parse::<tofu_oci_types::Platform>().is_ok());
    let options: Vec<String> = all.iter().map(|platform| format!("--platform {platform}")).collect();
    (good && !all.is_empty()).then(|| format!("write {}", options.join(" ")))
}

/// How a value of another kind is written in a TOML file, by what its parser says.
pub(crate) fn other_kind(said: &str) -> Option<String> {
    let (found, wanted) =
        said.strip_prefix("invalid type: ").or(said.strip_prefix("invalid value: "))?.split_once(", expected ")?;
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    let value = value.trim_matches(['"', '`']);
    let is_number = wanted.contains("integer") || wanted.starts_with(['u', 'i']);
    Some(match (kind, wanted) {
        ("string", _) if is_number && value.parse::<u64>().is_ok() => {
            format!("write the number without quotes: {value}")
        }
        (_, _) if is_number => "write a whole number without quotes, such as 2".to_owned(),
        ("string", "a boolean") => "write true or false without quotes".to_owned(),
        (_, "a boolean") => "write true or false".to_owned(),
        ("sequence", _) if wanted.contains("string") => "write one text in quotes, without brackets".to_owned(),
        ("integer" | "floating", _) if wanted.contains("string") => format!("write it in quotes: \"{value}\""),
        ("string", _) if wanted.contains("sequence") => format!("write it in brackets: [\"{value}\"]"),
        (_, _) if wanted.contains("sequence") => "write texts in quotes, in brackets: [\"…\"]".to_owned(),
        _ => return None,
    })
}

/// The variable that stands for an option, and is set.
fn variable(option: &str, declared: &Command) -> Option<String> {
    let of = |command: &Command| {
        let long = option.strip_prefix("--")?;
        let mut args = command.get_arguments().filter(|arg| arg.get_long() == Some(long));
        let name = args.find_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned()))?;
        std::env::var_os(&name).is_some().then_some(name)
    };
    declared.get_subcommands().find_map(of)
}

#[cfg(test)]
mod tests;

//! Arguments that a verb needs and that were not typed.

use std::path::Path;

use clap::Command;
use tofu_oci_types::ProviderAddr;

use crate::diagnostic::Diagnostic;
use crate::ends::without_scheme;
use crate::invocation;
use crate::subject;

/// `push` or `pack` with a destination alone.
pub(super) fn no_folder(words: &[String], declared: &Command) -> Option<Diagnostic> {
    let at = words.iter().position(|word| ["push", "pack"].contains(&word.as_str()))?;
    let (before, after) = words.split_at(at + 1);
    let verb = &words[at];
    let dest = free(after, declared.find_subcommand(verb)?, "").next()?;
    if Path::new(dest).exists() || !dest.starts_with("oci:") && !subject::is_repository(dest) {
        return None;
    }
    let line: Vec<String> = before
        .iter()
        .map(String::as_str)
        .chain(["."])
        .chain(after.iter().map(String::as_str))
        .map(invocation::quoted)
        .collect();
    Some(
        Diagnostic::usage(format!("`{verb}` needs the folder of the release, and then the destination"))
            .hint(format!("for the folder that you are in: tofu-oci {}", line.join(" "))),
    )
}

/// `attach` with one argument.
pub(super) fn no_file_or_release(words: &[String], declared: &Command) -> Option<Diagnostic> {
    let at = words.iter().position(|word| word == "attach")?;
    let typed = free(&words[at + 1..], declared.find_subcommand("attach")?, "").next()?;
    let quoted = invocation::quoted(typed);
    let line =
        if Path::new(typed).is_file() { format!("{quoted} REPOSITORY:VERSION") } else { format!("FILE {quoted}") };
    Some(
        Diagnostic::usage("`attach` needs the files, and then the release")
            .hint(format!("write tofu-oci attach {line}")),
    )
}

/// `run` without a command.
pub(super) fn nothing_to_run() -> Diagnostic {
    Diagnostic::usage("`run` needs the command that it runs")
        .hint("write it after the options and --: tofu-oci run -- terraform init")
        .hint("`tofu-oci run -h` has more examples")
}

/// `config add` or `config snippet` with a repository alone.
pub(super) fn no_pattern(verb: &str, word: &str) -> Option<Diagnostic> {
    let template = without_scheme(word).unwrap_or(word);
    (word.contains("${") || word.parse::<ProviderAddr>().is_err() && subject::is_repository(template)).then(|| {
        Diagnostic::usage(format!("`{verb}` needs the pattern of providers, and then the repository")).hint(format!(
            "name the providers first: tofu-oci {verb} HOST/NAMESPACE/TYPE {}",
            invocation::quoted(template)
        ))
    })
}

/// `module mirror` without modules.
pub(crate) fn nothing_to_mirror() -> Diagnostic {
    Diagnostic::usage("`module mirror` needs the modules that it brings, and there is no mirror.toml here")
        .hint(
            "name them: tofu-oci module mirror registry.example.com/acme/network/aws --latest 1 \
             --to 'ghcr.io/acme/modules/${namespace}/${name}-${target_system}'",
        )
        .hint("or take those of a configuration: tofu-oci module mirror --from-config DIR --to oci:modules")
        .hint("or those of a bundle: tofu-oci module mirror --from bundle:FILE --to oci:modules")
        .hint("or write [[module]] in a mirror.toml: tofu-oci help module-mirroring")
}

/// The words that are neither options nor their values; `typed` is an option with a value that the verb lacks.
pub(super) fn free<'a>(words: &'a [String], verb: &'a Command, typed: &'a str) -> impl Iterator<Item = &'a String> {
    let has_value = move |option: &String| {
        let long = option.strip_prefix("--").filter(|long| !long.contains('='));
        let declared = verb.get_arguments().find(|arg| arg.get_long().is_some() && arg.get_long() == long);
        option == typed || declared.is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut before = None;
    words.iter().filter(move |word| {
        let is_value = before.replace(*word).is_some_and(has_value);
        !is_value && !word.starts_with('-')
    })
}

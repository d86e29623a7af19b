//! Mistakes in arguments for which this program knows better advice than clap: verbs of other tools, lists of platforms,
//! values that a variable gives.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args;
use crate::diagnostic::Diagnostic;
use crate::exit::{self, Exit};

/// Words that other tools have for what these verbs do. A verb that this program lacks gives no advice.
const OTHER_WORDS: &[(&[&str], &[&str])] = &[
    (&["list", "ls", "tags", "search", "find"], &["versions"]),
    (&["get", "add", "init", "download", "fetch"], &["install"]),
    (&["pull"], &["install", "copy"]),
    (&["publish", "upload", "release"], &["push"]),
    (&["mirror", "sync"], &["copy"]),
    (&["serve", "bridge", "server"], &["install"]),
    (&["inspect", "info", "describe", "view"], &["show", "check"]),
    (&["update", "upgrade"], &["outdated", "install"]),
    (&["delete", "rm", "remove", "yank", "unpublish", "retract"], &["withdraw"]),
    (&["status", "diff"], &["outdated", "check"]),
    (&["validate", "lint", "doctor", "test"], &["check", "config check"]),
    (&["whoami"], &["auth explain"]),
    (&["auth login"], &["login"]),
    (&["auth logout"], &["logout"]),
    (&["config show", "config list", "config print"], &["config check", "config snippet"]),
];

/// Verbs that are planned.
const PLANNED: &[&str] = &["mirror", "serve", "bridge"];

/// Prints what is wrong with the arguments, or the help or version that they ask for.
pub(crate) fn end(error: &clap::Error, declared: &Command) -> Exit {
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
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = context(ContextKind::InvalidSubcommand)?;
            let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
            other_word(typed, words.filter(|word| !word.starts_with('-')).next().as_deref(), declared)
        }
        ErrorKind::ValueValidation => {
            let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
            let text = error.to_string();
            let diagnostic = Diagnostic::usage(text.strip_prefix("error: ").unwrap_or(&text).lines().next()?);
            if let Some(hint) = option.starts_with("--platform").then(|| platforms(value)).flatten() {
                return Some(diagnostic.hint(hint));
            }
            let typed = std::env::args_os().skip(1).any(|word| word.to_string_lossy().contains(value));
            let variable = if typed { None } else { variable(value, declared) };
            variable.map(|variable| diagnostic.hint(format!("the variable {variable} says so: change it, or unset it")))
        }
        _ => None,
    }
}

/// What to type instead of a verb of another tool. `first` is the first word that was typed.
fn other_word(typed: &str, first: Option<&str>, declared: &Command) -> Option<Diagnostic> {
    let words = match first {
        Some(first) if first != typed => format!("{first} {typed}"),
        _ => typed.to_owned(),
    };
    let (_, verbs) = OTHER_WORDS.iter().find(|(others, _)| others.contains(&words.as_str()))?;
    let mut diagnostic = Diagnostic::usage(if PLANNED.contains(&typed) {
        format!("`tofu-oci {words}` is planned and not built")
    } else {
        format!("`tofu-oci` has no verb `{words}`")
    });
    for verb in *verbs {
        let found = verb.split(' ').try_fold(declared, |command, word| command.find_subcommand(word));
        if let Some(about) = found.and_then(Command::get_about) {
            diagnostic = diagnostic.hint(format!("`tofu-oci {verb}`: {about}"));
        }
    }
    (!diagnostic.hints().is_empty()).then(|| diagnostic.hint("`tofu-oci --help` lists all verbs"))
}

/// What to write instead of a list of platforms, or of docker's form of one.
fn platforms(value: &str) -> Option<String> {
    let one = |text: &str| text.trim().replace('/', "_");
    let all: Vec<String> = value.split([',', ' ']).filter(|part| !part.is_empty()).map(one).collect();
    let good = all.iter().all(|platform| platform.parse::<tofu_oci_types::Platform>().is_ok());
    let options: Vec<String> = all.iter().map(|platform| format!("--platform {platform}")).collect();
    (good && !all.is_empty()).then(|| format!("write {}", options.join(" ")))
}

/// The variable that has the value.
fn variable(value: &str, declared: &Command) -> Option<String> {
    let of = |command: &Command| {
        let names = command.get_arguments().filter_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned()));
        names.into_iter().find(|name| std::env::var(name).is_ok_and(|set| set == value))
    };
    declared.get_subcommands().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    #[track_caller]
    fn check(typed: &str, want: &[&str]) {
        let (first, last) = typed.split_once(' ').unwrap_or((typed, typed));
        let diagnostic = other_word(last, Some(first), &args::command()).expect(typed);
        let verbs: Vec<&str> = diagnostic.hints().iter().filter_map(|hint| hint.split('`').nth(1)).collect();
        assert_eq!(&verbs[..verbs.len() - 1], want, "{typed}");
    }

    #[test]
    fn list_means_versions_and_not_install() {
        for word in ["list", "ls", "tags"] {
            check(word, &["tofu-oci versions"]);
        }
        check("publish", &["tofu-oci push"]);
        check("upload", &["tofu-oci push"]);
        check("pull", &["tofu-oci install", "tofu-oci copy"]);
        check("auth login", &["tofu-oci login"]);
        check("whoami", &["tofu-oci auth explain"]);
    }

    #[test]
    fn a_verb_that_is_planned_is_called_so() {
        let diagnostic = other_word("mirror", Some("mirror"), &args::command()).expect("planned");
        assert_eq!(diagnostic.text(), "`tofu-oci mirror` is planned and not built");
        assert!(other_word("logn", Some("logn"), &args::command()).is_none(), "clap knows similar verbs");
    }

    #[test]
    fn a_list_of_platforms_becomes_options() {
        let want = "write --platform linux_amd64 --platform darwin_arm64";
        assert_eq!(platforms("linux_amd64,darwin_arm64").as_deref(), Some(want));
        assert_eq!(platforms("linux/amd64").as_deref(), Some("write --platform linux_amd64"));
        assert_eq!(platforms("linux"), None);
    }
}

//! Mistakes in arguments for which this program knows better advice than clap: verbs of other tools, lists of platforms,
//! values that a variable gives.

use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args;
use crate::diagnostic::Diagnostic;
use crate::exit::{self, Exit};
use crate::invocation;

/// Words that other tools have for what these verbs do. A verb that this program lacks gives no advice.
const OTHER_WORDS: &[(&[&str], &[&str])] = &[
    (&["list", "ls", "tags", "search", "find"], &["versions"]),
    (&["get", "add", "init", "download", "fetch"], &["install"]),
    (&["pull"], &["install", "copy"]),
    (&["publish", "upload", "release"], &["push"]),
    (&["sync"], &["mirror", "copy"]),
    (&["bridge", "server", "proxy"], &["serve", "run"]),
    (&["inspect", "info", "describe", "view"], &["show", "check"]),
    (&["update", "upgrade"], &["outdated", "install"]),
    (&["delete", "rm", "remove", "yank", "unpublish", "retract"], &["withdraw"]),
    (&["status", "diff"], &["outdated", "check"]),
    (&["validate", "lint", "doctor", "test"], &["check", "config check"]),
    (&["whoami"], &["auth explain"]),
    (&["auth login"], &["login"]),
    (&["auth logout"], &["logout"]),
    (&["config show", "config list", "config print"], &["config check", "config snippet"]),
    (&["prune", "clean", "gc"], &["cache prune"]),
    (&["cache clean", "cache clear", "cache rm", "cache remove", "cache gc"], &["cache prune"]),
    (&["cache list", "cache ls", "cache path", "cache size", "cache show", "cache status"], &["cache info"]),
    (&["cache check"], &["cache verify"]),
];

/// What does the work of an option that a verb lacks.
#[derive(Clone, Copy)]
enum Instead {
    /// An option of the verb, whichever verbs have it.
    Option(&'static str),
    /// Something else, for these verbs alone.
    Advice(&'static [&'static str], &'static str),
}

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
    ("--dest", Instead::Option("--to")),
    ("--destination", Instead::Option("--to")),
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

/// The refusal of arguments with the text of a private key in them. No message repeats such an argument, as others would.
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
            let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
            if typed == "version" {
                let hint =
                    "`tofu-oci --version` prints the version of tofu-oci, `tofu-oci versions` those of a provider";
                return Some(Diagnostic::usage("`tofu-oci` has no verb `version`").hint(hint));
            }
            other_word(typed, words.find(|word| !word.starts_with('-')).as_deref(), declared)
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
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
            let lacks = |name: &str| missing.iter().any(|argument| argument.starts_with(name));
            if lacks("<COMMAND>...") {
                return Some(nothing_to_run());
            }
            let words = || std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
            let is_module_mirror = words().filter(|word| !word.starts_with('-')).take(2).eq(["module", "mirror"]);
            (is_module_mirror && lacks("<SOURCE")).then(nothing_to_mirror)
        }
        ErrorKind::UnknownArgument => {
            let words: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            other_option(context(ContextKind::InvalidArg)?, &words, declared)
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
    let mut diagnostic = Diagnostic::usage(format!("`tofu-oci` has no verb `{words}`"));
    for verb in *verbs {
        let found = verb.split(' ').try_fold(declared, |command, word| command.find_subcommand(word));
        if let Some(about) = found.and_then(Command::get_about) {
            diagnostic = diagnostic.hint(format!("`tofu-oci {verb}`: {about}"));
        }
    }
    (!diagnostic.hints().is_empty()).then(|| diagnostic.hint("`tofu-oci --help` lists all verbs"))
}

/// What to write instead of an option with one dash, as OpenTofu has them, of one that has another name here, and of an
/// argument of a verb that takes none. `words` is the whole command line.
fn other_option(typed: &str, words: &[String], declared: &Command) -> Option<Diagnostic> {
    let (mut verb, mut name) = (declared, String::new());
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let Some(found) = verb.find_subcommand(word) else { break };
        let gap = if name.is_empty() { "" } else { " " };
        name = format!("{name}{gap}{word}");
        verb = found;
    }
    let takes = |option: &str| verb.get_arguments().any(|arg| arg.get_long() == Some(option));
    let diagnostic = |word: &str| Diagnostic::usage(format!("unexpected argument `{word}`"));
    if typed.starts_with("--") {
        let means = |instead: &Instead| match *instead {
            Instead::Option(option) => {
                takes(option.trim_start_matches('-')).then(|| format!("`{name}` has {option} for it"))
            }
            Instead::Advice(verbs, advice) => verbs.contains(&name.as_str()).then(|| advice.to_owned()),
        };
        let hint = OTHER_OPTIONS.iter().filter(|(other, _)| *other == typed).find_map(|(_, instead)| means(instead))?;
        return Some(diagnostic(typed).hint(hint));
    }
    if typed.starts_with('-') {
        let word = words
            .iter()
            .find(|word| word.strip_prefix('-').is_some_and(|option| option.split('=').next().is_some_and(takes)))?;
        let hint = format!("options have two dashes, and follow the verb: tofu-oci {name} -{word}");
        return Some(diagnostic(word).hint(hint));
    }
    if name == "run" {
        let (before, command) = words.split_at(words.iter().position(|word| word == typed)?);
        let shown = |words: &[String]| words.iter().map(|word| invocation::quoted(word)).collect::<Vec<_>>().join(" ");
        let hint = format!("write -- before the command: tofu-oci {} -- {}", shown(before), shown(command));
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
        _ => format!("`{name}` takes no arguments: it is about every provider of a configuration"),
    }))
}

/// `run` without a command.
fn nothing_to_run() -> Diagnostic {
    Diagnostic::usage("`run` needs the command that it runs")
        .hint("write it after the options and --: tofu-oci run -- terraform init")
        .hint("`tofu-oci run -h` has more examples")
}

/// `module mirror` without modules.
fn nothing_to_mirror() -> Diagnostic {
    Diagnostic::usage("`module mirror` needs the modules that it brings")
        .hint(
            "name them: tofu-oci module mirror registry.example.com/acme/network/aws --latest 1 \
             --to 'ghcr.io/acme/modules/${namespace}/${name}-${target_system}'",
        )
        .hint("or take those of a configuration: tofu-oci module mirror --from-config DIR --to oci:modules")
        .hint("or those of a bundle: tofu-oci module mirror --from bundle:FILE --to oci:modules")
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
    fn words_of_other_caches_lead_to_the_verbs_of_this_one() {
        for word in ["prune", "clean", "gc", "cache clean", "cache clear", "cache rm", "cache remove", "cache gc"] {
            check(word, &["tofu-oci cache prune"]);
        }
        for word in ["list", "ls", "path", "size", "show", "status"] {
            check(&format!("cache {word}"), &["tofu-oci cache info"]);
        }
        check("cache check", &["tofu-oci cache verify"]);
    }

    #[test]
    fn the_bridge_was_called_planned_after_it_was_built() {
        check("bridge", &["tofu-oci serve", "tofu-oci run"]);
        assert!(other_word("logn", Some("logn"), &args::command()).is_none(), "clap knows similar verbs");
    }

    #[track_caller]
    fn check_option(typed: &str, line: &str, want: Option<&str>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let diagnostic = other_option(typed, &words, &args::command());
        let got = diagnostic.map(|diagnostic| format!("{}: {}", diagnostic.text(), diagnostic.hints().join("; ")));
        assert_eq!(got.as_deref(), want);
    }

    #[test]
    fn an_option_with_one_dash_is_answered_with_two() {
        let want = "unexpected argument `-lockfile=readonly`: options have two dashes, and follow the verb: tofu-oci \
                    install --lockfile=readonly";
        check_option("-l", "install x/y -lockfile=readonly", Some(want));
        let want =
            "unexpected argument `-chdir=.`: options have two dashes, and follow the verb: tofu-oci outdated --chdir=.";
        check_option("-c", "-chdir=. outdated", Some(want));
        check_option("-x", "install -x", None);
        check_option("-c", "versions x -chdir=.", None);
    }

    #[test]
    fn an_option_of_another_verb_is_answered_with_its_name_here() {
        let want = |option: &str, hint: &str| format!("unexpected argument `--{option}`: `{hint} for it");
        check_option("--force", "push dist x/y --force", Some(&want("force", "push` has --replace-tag")));
        check_option("--reason", "deprecate x/y:1.0.0 --reason x", Some(&want("reason", "deprecate` has --message")));
        check_option("--message", "withdraw x/y:1.0.0 --message x", Some(&want("message", "withdraw` has --reason")));
        check_option("--key", "withdraw x/y:1.0.0 --key x", Some(&want("key", "withdraw` has --sign-key")));
        check_option("--force", "versions x/y --force", None);
        let want = "unexpected argument `--dry-run`: `mirror` has --plan for it";
        check_option("--dry-run", "mirror x/y --dry-run", Some(want));
        let want = "unexpected argument `--older-than`: `cache prune` has --unused-for for it";
        check_option("--older-than", "cache prune --older-than 7d", Some(want));
    }

    #[test]
    fn an_option_that_no_option_replaces_is_answered_with_other_means() {
        let want = |option: &str, hint: &str| format!("unexpected argument `{option}`: {hint}");
        for option in ["--all", "--force"] {
            let all = want(option, "to remove every package: tofu-oci cache prune --max-size 0");
            check_option(option, &format!("cache prune {option}"), Some(&all));
            check_option(option, &format!("bundle create b.tar {option}"), None);
        }
        let hint = "the variable TOFU_OCI_CACHE_DIR names the folder of the package cache: tofu-oci help caching";
        check_option("--cache-dir", "install x/y --cache-dir z", Some(&want("--cache-dir", hint)));
        check_option("--cache-dir", "cache info --cache-dir z", Some(&want("--cache-dir", hint)));
        check_option("--cache-dir", "push dist x/y --cache-dir z", None);
        let hint = "write the destination after the file: tofu-oci bundle load FILE DEST";
        check_option("--to", "bundle load b.tar --to oci:x", Some(&want("--to", hint)));
        let hint = "`push` and `pack` make small layers with --small; `copy` always carries them along";
        check_option("--small", "copy x/y oci:x --small", Some(&want("--small", hint)));
    }

    #[test]
    fn a_command_to_run_without_dashes_is_answered_with_them() {
        let want =
            "unexpected argument `terraform`: write -- before the command: tofu-oci run -- terraform init -upgrade";
        check_option("terraform", "run terraform init -upgrade", Some(want));
        let want = "unexpected argument `tofu`: write -- before the command: tofu-oci run --no-lock -- tofu init";
        check_option("tofu", "run --no-lock tofu init", Some(want));
    }

    #[test]
    fn run_without_a_command_has_an_example() {
        for line in ["run", "run --", "run --no-lock", "run --template x --"] {
            let words = ["tofu-oci"].into_iter().chain(line.split(' '));
            let error = args::command().try_get_matches_from(words).expect_err("it names no command");
            let diagnostic = diagnostic(&error, &args::command()).expect(line);
            assert!(diagnostic.hints()[0].ends_with("tofu-oci run -- terraform init"), "{line}");
        }
    }

    #[test]
    fn an_argument_of_a_verb_without_arguments_is_answered_with_what_to_type() {
        let want = "unexpected argument `src`: name the directory with --chdir: tofu-oci outdated --chdir src";
        check_option("src", "outdated src", Some(want));
        let want = "unexpected argument `x/y/z`: `providers` takes no arguments: it is about every provider of a configuration";
        check_option("x/y/z", "providers x/y/z", Some(want));
        let want = "unexpected argument `a.tfrc`: it reads the files that OpenTofu reads; for one file: \
                    TF_CLI_CONFIG_FILE=a.tfrc tofu-oci config check";
        check_option("a.tfrc", "config check a.tfrc", Some(want));
        check_option("z", "copy x/y oci:x z", None);
    }

    #[test]
    fn a_list_of_platforms_becomes_options() {
        let want = "write --platform linux_amd64 --platform darwin_arm64";
        assert_eq!(platforms("linux_amd64,darwin_arm64").as_deref(), Some(want));
        assert_eq!(platforms("linux/amd64").as_deref(), Some("write --platform linux_amd64"));
        assert_eq!(platforms("linux"), None);
    }
}

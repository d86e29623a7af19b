use super::*;
use crate::args;

#[track_caller]
fn check(typed: &str, want: &[&str]) {
    let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
    let diagnostic = unknown_verb(&words[words.len() - 1], &words, &args::command());
    let quoted = diagnostic.hints().iter().filter_map(|hint| hint.split('`').nth(1));
    let verbs: Vec<&str> = quoted.filter(|words| words.starts_with("tofu-oci ")).collect();
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
    let want = "unexpected argument `terraform`: write -- before the command: tofu-oci run -- terraform init -upgrade";
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
    let want =
        "unexpected argument `x/y/z`: `providers` takes no arguments: it is about every provider of a configuration";
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

#[test]
fn a_version_as_an_option_was_taken_for_verbose() {
    let line = |verb: &str, typed: &str, rest: &str| {
        format!("`{verb}` takes the version with what it names: tofu-oci {verb} {typed}{rest}")
    };
    let check = |option: &str, words: &str, want: &str| {
        check_option(option, words, Some(&format!("unexpected argument `{option}`: {want}")));
    };
    check("--version", "install a.b/c/d --version 1.0.0", &line("install", "a.b/c/d@1.0.0", ""));
    check(
        "--version",
        "lock --from ghcr.io/x/y a.b/c/d --version=1.0.0",
        &line("lock", "--from ghcr.io/x/y a.b/c/d@1.0.0", ""),
    );
    check(
        "--constraint",
        "mirror a.b/c/d --constraint 1.0.0 --to oci:x",
        &line("mirror", "a.b/c/d@1.0.0", " --to oci:x"),
    );
    let provider = "ghcr.io/x/opentofu-provider-y";
    check("--tag", &format!("show {provider} --tag 1.0.0"), &line("show", &format!("{provider}:1.0.0"), ""));
    let either = "; if ghcr.io/x/y is a repository, ghcr.io/x/y:1.0.0";
    check("--version", "show ghcr.io/x/y --version 1.0.0", &line("show", "ghcr.io/x/y@1.0.0", either));
    check("--version", "verify a.b/c/d/aws --version 1.0.0", &line("verify", "a.b/c/d/aws@1.0.0", ""));
    check(
        "--version",
        "bundle create b.tar a.b/c/d --version 1.0.0",
        &line("bundle create", "b.tar a.b/c/d@1.0.0", ""),
    );
    let source = line("module pull", "'oci://ghcr.io/x/y?tag=1.0.0'", " dir");
    check("--version", "module pull oci://ghcr.io/x/y dir --version 1.0.0", &source);
    check("--version", "module pull ghcr.io/x/y dir --version 1.0.0", &source);
    check("--version", "install --version 1.0.0", "`install` takes the version after the address: ADDR@1.0.0");
    check_option("--version", "outdated --version 1.0.0", None);
}

#[test]
fn a_number_in_quotes_was_answered_with_the_name_of_a_type() {
    let check = |said: &str, want: Option<&str>| assert_eq!(other_kind(said).as_deref(), want, "{said}");
    check("invalid type: string \"2\", expected usize", Some("write the number without quotes: 2"));
    check("invalid value: integer `-1`, expected usize", Some("write a whole number without quotes, such as 2"));
    check("invalid type: floating point `1.5`, expected u64", Some("write a whole number without quotes, such as 2"));
    check("invalid type: string \"true\", expected a boolean", Some("write true or false without quotes"));
    check("invalid type: integer `7`, expected a string", Some("write it in quotes: \"7\""));
    check("invalid type: string \"a\", expected a sequence", Some("write it in brackets: [\"a\"]"));
    check("unknown field `x`, expected one of `y`", None);
}

#[test]
fn options_of_habits_were_answered_with_a_tip_that_leads_nowhere() {
    check_option("--dry-run", "lock --dry-run", Some("unexpected argument `--dry-run`: `lock` has --check for it"));
    check_option("--dir", "install x/y --dir d", Some("unexpected argument `--dir`: `install` has --chdir for it"));
    let plugin = "unexpected argument `-fs-mirror=d`: `lock` has --plugin-dir for it";
    check_option("-f", "lock -fs-mirror=d", Some(plugin));
    for option in ["--insecure", "--tls-verify"] {
        let want = format!("unexpected argument `{option}`: {WITHOUT_TLS}");
        check_option(option, &format!("versions r.example/x {option}"), Some(&want));
    }
    let lock = "unexpected argument `lock`: `tofu-oci lock`: Bring the lock file up to date for all platforms";
    check_option("lock", "providers lock", Some(lock));
    check("explain", &["tofu-oci help", "tofu-oci resolve", "tofu-oci auth explain"]);
}

#[test]
fn the_value_of_an_option_that_a_verb_takes_elsewhere_was_lost() {
    for (option, line, want) in [
        ("--to", "copy a.test/x --to b.test/y --all", "copy a.test/x b.test/y --all"),
        ("--to", "push dist --to=a.test/x", "push dist a.test/x"),
        ("--to", "copy --to b.test/y a.test/x --all", "copy a.test/x b.test/y --all"),
        ("--to", "push --to a.test/x dist", "push dist a.test/x"),
        ("--to", "module push --to a.test/x m", "module push m a.test/x"),
        ("--from", "copy a.test/b/c@1.4.0 r.test/y --from r.test/x", "copy r.test/x:1.4.0 r.test/y"),
        ("--from", "copy acme/c r.test/y --from r.test/x", "copy r.test/x r.test/y"),
        (
            "--from",
            "run --from r.test/x -- tofu init",
            "run --template r.test/x --include HOST/NAMESPACE/TYPE -- tofu init",
        ),
        ("--from", "run --from r.test/${type} -- tofu init", "run --template 'r.test/${type}' -- tofu init"),
        ("--chdir", "run --chdir d -- tofu init", "run -- tofu -chdir=d init"),
        ("--chdir", "run --chdir=d tofu init", "run -- tofu -chdir=d init"),
    ] {
        check_option(option, line, Some(&format!("unexpected argument `{option}`: write tofu-oci {want}")));
    }
    let want = "unexpected argument `-chdir=d`: write tofu-oci run -- tofu -chdir=d init";
    check_option("-c", "run -chdir=d -- tofu init", Some(want));
}

/// The hints for a command line that clap refuses, without the last one, which says where all verbs or options are.
#[track_caller]
fn check_near(line: &str, text: &str, want: &[&str]) {
    let words = ["tofu-oci"].into_iter().chain(line.split(' '));
    let error = args::command().try_get_matches_from(words).expect_err("it is misspelt");
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let declared = args::command();
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => panic!("{line}: {error}"),
    };
    let diagnostic = match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_verb(&typed(ContextKind::InvalidSubcommand), &words, &declared),
        ErrorKind::ArgumentConflict => conflict(&error, &words, &declared).expect(line),
        _ => unknown_argument(&typed(ContextKind::InvalidArg), &words, &declared),
    };
    let (_, hints) = diagnostic.hints().split_last().expect("a hint");
    assert_eq!((diagnostic.text(), hints), (text, want.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice()));
}

#[test]
fn misspelt_words_got_no_tip_or_a_wrong_one() {
    let unexpected = |option: &str| format!("unexpected argument `{option}`");
    let near = |line: &str, option: &str, want: &str| {
        check_near(line, &unexpected(option), &[&format!("did you mean: {want}")]);
    };
    near("--verison", "--verison", "--version");
    near("install x/y --form=oci:d", "--form", "--from");
    near("push dist x/y --replace", "--replace", "--replace-tag");
    check_near(
        "install x/y --verison 1.0.0",
        &unexpected("--verison"),
        &["`install` takes the version with what it names: tofu-oci install x/y@1.0.0"],
    );
    check_near("mirror x/y --dryrun", &unexpected("--dryrun"), &["`mirror` has --plan for it"]);
    check_near("versions x/y --xyz", &unexpected("--xyz"), &[]);
    let verb = |name: &str| format!("`tofu-oci` has no verb `{name}`");
    check_near("instal x/y", &verb("instal"), &["did you mean: tofu-oci install"]);
    check_near("logn", &verb("logn"), &["did you mean: tofu-oci login"]);
    check_near("config addd x y", &verb("config addd"), &["did you mean: tofu-oci config add"]);
    check_near("foo", &verb("foo"), &[]);
}

#[test]
fn options_that_exclude_each_other_had_no_hint() {
    check_near(
        "withdraw x/y:1.0.0 --undo --reason z",
        "the argument '--undo' cannot be used with '--reason <TEXT>'",
        &["omit --undo or --reason"],
    );
}

#[test]
fn an_argument_too_many_of_push_was_said_to_be_a_password() {
    check_near("push dist x/y extra", "unexpected argument `extra`", &[]);
    let hidden = "one argument is too many; it may be a password, so it is not shown";
    for line in ["login x hunter2", "logout x hunter2", "push dist x/y hunter2 --username me"] {
        check_near(line, hidden, &[]);
    }
}

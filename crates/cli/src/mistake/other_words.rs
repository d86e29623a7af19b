//! Verbs of other tools.

use clap::Command;

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
    (&["sso", "token"], &["login", "auth explain"]),
    (&["sbom", "attest", "attach", "provenance"], &["sign", "push", "show"]),
    (&["tofu", "terraform", "exec"], &["run"]),
    (&["auth login"], &["login"]),
    (&["auth logout"], &["logout"]),
    (&["config show", "config list", "config print"], &["config check", "config snippet"]),
    (&["config set", "config edit", "config init", "config write"], &["config add"]),
    (&["config rm", "config delete", "config unset"], &["config remove"]),
    (&["explain"], &["help", "resolve", "auth explain"]),
    (&["prune", "clean", "gc"], &["cache prune"]),
    (&["cache clean", "cache clear", "cache rm", "cache remove", "cache gc"], &["cache prune"]),
    (&["cache list", "cache ls", "cache path", "cache size", "cache show", "cache status"], &["cache info"]),
    (&["cache check"], &["cache verify"]),
    (&["module list", "module ls", "module tags"], &["module versions"]),
    (&["module get", "module install", "module fetch", "module download"], &["module pull"]),
    (&["module publish", "module upload"], &["module push"]),
    (&["module resolve", "module explain"], &["resolve"]),
    (&["module show", "module inspect", "module check"], &["check", "verify"]),
    (&["module verify"], &["verify"]),
    (&["module sign"], &["sign"]),
    (&["module withdraw", "module delete", "module rm"], &["withdraw"]),
    (&["module deprecate"], &["deprecate"]),
    (&["module copy"], &["copy"]),
    (&["bundle list", "bundle ls", "bundle inspect"], &["bundle show"]),
    (&["bundle pack", "bundle export", "bundle write"], &["bundle create"]),
    (&["bundle push", "bundle import", "bundle unpack", "bundle install"], &["bundle load"]),
];

/// A hint for each verb that does what other tools call so.
pub(crate) fn instead(words: &str, declared: &Command) -> Vec<String> {
    let verbs = OTHER_WORDS.iter().find(|(others, _)| others.contains(&words)).map_or(&[][..], |(_, verbs)| *verbs);
    let about = |verb: &&str| {
        let found = verb.split(' ').try_fold(declared, |command, word| command.find_subcommand(word));
        Some(format!("`tofu-oci {verb}`: {}", found?.get_about()?))
    };
    verbs.iter().filter_map(about).collect()
}

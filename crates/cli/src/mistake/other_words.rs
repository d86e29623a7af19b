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
    (&["sso", "oidc", "login-oidc", "saml", "token"], &["login", "auth explain"]),
    (&["sbom", "attest", "provenance", "slsa"], &["attach", "sign", "verify"]),
    (&["keyless", "fulcio", "rekor", "tlog"], &["sign", "verify"]),
    (&["web", "ui", "dashboard", "browse", "open"], &["serve", "show"]),
    (&["rbac", "users", "roles", "permissions"], &["auth explain", "serve"]),
    (&["scan", "vuln", "vulnerabilities", "audit"], &["check", "verify"]),
    (&["plan", "apply", "destroy", "state", "fmt", "workspace"], &["install", "run"]),
    (&["tofu", "terraform", "exec"], &["run"]),
    (&["auth login"], &["login"]),
    (&["auth logout"], &["logout"]),
    (&["config show", "config list", "config print"], &["config check", "config snippet"]),
    (&["config set", "config edit", "config init", "config write"], &["config add"]),
    (&["config rm", "config delete", "config unset"], &["config remove"]),
    (&["explain"], &["help", "resolve", "auth explain"]),
    (&["prune", "clean", "gc", "garbage-collect"], &["cache prune"]),
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

/// What nothing here does, and who does it.
const NOT_HERE: &[(&[&str], &str)] = &[
    (&["sbom"], "tofu-oci makes no SBOM: make one with syft, and attach it: tofu-oci attach FILE RELEASE"),
    (
        &["attest", "provenance", "slsa"],
        "the build makes the attestation; put its bundle beside the release: tofu-oci attach FILE RELEASE",
    ),
    (
        &["gc", "garbage-collect"],
        "a registry removes its blobs by its own garbage collection; `cache prune` cleans the cache of this machine",
    ),
    (
        &["sso", "oidc", "login-oidc", "saml"],
        "there is no login by a browser: log in with a token, or name the credential helper of the cloud in docker's config.json",
    ),
    (
        &["keyless", "fulcio", "rekor", "tlog"],
        "`sign --keyless` and `push --sign-keyless` sign as a CI job; `verify` judges by an [[identity]] in trust.toml",
    ),
    (
        &["scan", "vuln", "vulnerabilities", "audit"],
        "tofu-oci scans no code: let the registry scan, or run trivy or grype on the unpacked package",
    ),
    (
        &["delete", "rm", "remove"],
        "tofu-oci deletes no content: `withdraw` hides a version, and the registry's own tools delete",
    ),
    (
        &["web", "ui", "dashboard", "browse", "open"],
        "`serve` has a page that lists its providers, modules and versions",
    ),
    (
        &["rbac", "users", "roles", "permissions"],
        "rights are those of the OCI registry; clients of `serve` have tokens in serve.toml",
    ),
    (
        &["plan", "apply", "destroy", "state", "fmt", "workspace"],
        "tofu and terraform do that: install first, or use `run`",
    ),
];

/// Hints for what other tools call so: who does it, if nothing here does, and each verb that does the work.
pub(crate) fn instead(words: &str, declared: &Command) -> Vec<String> {
    let verbs = OTHER_WORDS.iter().find(|(others, _)| others.contains(&words)).map_or(&[][..], |(_, verbs)| *verbs);
    let about = |verb: &&str| {
        let found = verb.split(' ').try_fold(declared, |command, word| command.find_subcommand(word));
        Some(format!("`tofu-oci {verb}`: {}", found?.get_about()?))
    };
    let not_here =
        NOT_HERE.iter().filter(|(others, _)| others.contains(&words)).map(|(_, instead)| (*instead).to_owned());
    not_here.chain(verbs.iter().filter_map(about)).collect()
}

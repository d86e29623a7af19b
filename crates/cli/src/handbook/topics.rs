//! The topics of `help TOPIC`: the pages of `docs/`, in the order in which `help` lists them.

#[derive(Clone, Copy, Debug)]
pub(crate) struct HelpTopic {
    /// As it is typed after `tofu-oci help`.
    pub(crate) name: &'static str,
    /// What the page is about, in a few words.
    pub(crate) about: &'static str,
    /// Its file in `docs/`. Other pages link to it by the name after the folder, which is unique.
    pub(super) file: &'static str,
}

impl HelpTopic {
    /// The folder of its file: `start`, `how-to`, `concepts` or `reference`.
    pub(crate) fn part(&self) -> &'static str {
        self.file.split('/').next().unwrap_or_default()
    }
}

macro_rules! topics {
    ($($name:literal, $file:literal, $about:literal;)*) => {
        &[$(HelpTopic { name: $name, about: $about, file: $file }),*]
    };
}

/// Every page of `docs/`, in the order in which `help` lists them. `check` and `config` are verbs, so their pages have
/// other names.
pub(crate) const TOPICS: &[HelpTopic] = topics! {
    "getting", "start/getting.md", "how to get tofu-oci onto a machine";
    "tutorial", "start/tutorial.md", "from nothing to a provider published, installed, verified, served and mirrored";
    "guide", "start/guide.md", "a walk through five modules and a local registry";
    "coming-from", "start/coming-from.md", "if you use oras, boring-registry, Artifactory or `terraform providers mirror`";
    "publishing", "how-to/publishing.md", "push a release: inputs, signing, what is checked";
    "provider-docs", "how-to/provider-docs.md", "documentation beside a release: publish, read, compare, serve it";
    "withdrawing", "how-to/withdrawing.md", "take a version back, warn of one, replace one";
    "fewer-bytes", "how-to/fewer-bytes.md", "smaller packages beside the zips";
    "installing", "how-to/installing.md", "where packages go, Terraform, sites without network";
    "locking", "how-to/locking.md", "a lock file with every platform";
    "verifying", "how-to/verifying.md", "look at signatures, demand them, use cosign and openssl";
    "keyless", "how-to/keyless.md", "sign as a CI job, attach attestations and SBOMs, see who built it";
    "promoting", "how-to/promoting.md", "two approvers sign a release, and the policy counts them";
    "checking", "how-to/check.md", "how to use `tofu-oci check`, and what it predicts";
    "error-texts", "how-to/error-texts.md", "what OpenTofu and Terraform print, and what to do here";
    "caching", "how-to/caching.md", "packages that projects share, disk space, images for CI";
    "mirroring", "how-to/mirror.md", "providers of others in your own registry, by rules";
    "bundles", "how-to/bundle.md", "one file for a site without network, files for a web server";
    "running", "how-to/run.md", "terraform, tofu and terragrunt with providers from OCI repositories";
    "serving", "how-to/serve.md", "a network mirror and registry out of repositories, for Terraform and every OpenTofu";
    "module-publishing", "how-to/module-publishing.md", "push, sign, withdraw and copy a module; what stays out";
    "module-fetching", "how-to/module-fetching.md", "a module in a folder, from repositories, registries and git";
    "module-pinning", "how-to/module-pinning.md", "the digest of each module in the configuration";
    "module-mirroring", "how-to/module-mirroring.md", "modules of others in your own registry, with those that they call";
    "registries", "how-to/registries.md", "what each registry needs and cannot do";
    "modules", "concepts/modules.md", "modules in OCI repositories, and where those of registries are";
    "layouts", "concepts/layouts.md", "what a release is in a repository";
    "configuration", "concepts/configuration.md", "the CLI configuration: where a provider comes from";
    "lock-file", "concepts/lock-file.md", "what the lines of the lock file are worth";
    "trust", "concepts/trust.md", "signatures, and what is never undone";
    "credentials", "concepts/credentials.md", "which login is used for which repository";
    "comparison", "concepts/comparison.md", "tofu-oci beside other ways to distribute providers";
    "verbs", "reference/verbs.md", "every verb with its arguments and options";
    "names", "reference/names.md", "how versions and places are written";
    "requirements", "reference/requirements.md", "which providers and modules a configuration requires";
    "trust-policy", "reference/trust-policy.md", "every member of trust.toml, notices, releases with another address";
    "pins", "reference/pins.md", "what .tofu-oci.pins.json remembers";
    "openpgp", "reference/openpgp.md", "OpenPGP signatures of SHA256SUMS";
    "config-findings", "reference/config-findings.md", "every finding of `tofu-oci config check`";
    "credential-sources", "reference/credential-sources.md", "files, blocks, helpers and tokens, and what is sent to whom";
    "differences", "reference/differences.md", "what tofu-oci decides otherwise than OpenTofu, and why";
    "network", "reference/network.md", "certificates, proxies, retries, time limits, size limits";
    "serve-settings", "reference/serve-settings.md", "every setting of `tofu-oci serve`, and what it verifies";
    "serve-operation", "reference/serve-operation.md", "metrics, logs, signals and failures of `tofu-oci serve`";
    "rules", "reference/rules.md", "every rule of `tofu-oci check`";
    "errors", "reference/errors.md", "every code of errors, warnings and notes";
    "exit-codes", "reference/exit-codes.md", "what the exit codes mean";
    "environment", "reference/environment.md", "every environment variable";
    "json", "reference/json.md", "the JSON lines of --json";
};

/// Words that people look for, and the topics about them.
const OTHER_NAMES: &[(&[&str], &[&str])] = &[
    (&["signing", "signature", "signatures", "minisign", "gpg", "pgp", "keys"], &["publishing", "verifying"]),
    (&["cosign"], &["publishing", "verifying", "keyless"]),
    (&["air-gap", "airgap", "air-gapped", "offline"], &["bundles", "mirroring"]),
    (&["tofurc", ".tofurc", "terraformrc", ".terraformrc", "cli-config", "oci_mirror"], &["configuration"]),
    (&["trust.toml", "policy"], &["trust", "trust-policy"]),
    (&["identity", "identities", "sigstore", "fulcio", "oidc"], &["keyless", "trust", "trust-policy"]),
    (&["tuf", "trust-root", "built-by"], &["trust-policy", "keyless"]),
    (&["docs", "documentation"], &["provider-docs"]),
    (&["mirror.toml"], &["mirroring"]),
    (&["modules.toml"], &["modules"]),
    (&["serve.toml"], &["serve-settings"]),
    (&["lockfile", ".terraform.lock.hcl", "hashes", "checksums"], &["locking", "lock-file"]),
    (&["logins", "authentication", "token", "tokens"], &["credentials"]),
    (&["proxy", "proxies", "tls", "certificates", "timeouts", "retries"], &["network"]),
    (&["variables", "env"], &["environment"]),
    (&["constraints", "addresses", "syntax"], &["names"]),
    (&["quickstart", "quick-start", "start", "intro"], &["tutorial", "guide"]),
    (&["troubleshooting", "problems", "faq"], &["error-texts", "errors"]),
];

/// The topic of this name, in upper or lower case, or the one whose page is the file of this name.
pub(crate) fn topic(name: &str) -> Option<&'static HelpTopic> {
    let name = name.to_lowercase();
    TOPICS.iter().find(|topic| topic.name == name).or_else(|| of_file(name.rsplit('/').next()?))
}

/// The topics about what has another name here.
pub(crate) fn topics_about(name: &str) -> Vec<&'static HelpTopic> {
    let name = name.to_lowercase().replace(' ', "-");
    let found = OTHER_NAMES.iter().find(|(others, _)| others.contains(&name.as_str()));
    found.map_or(&[][..], |(_, topics)| topics).iter().filter_map(|name| topic(name)).collect()
}

/// All other names of what topics are about.
pub(crate) fn other_names() -> impl Iterator<Item = &'static str> {
    OTHER_NAMES.iter().flat_map(|(others, _)| others.iter().copied())
}

/// The topic whose page is the file of this name, in whatever folder.
pub(super) fn of_file(name: &str) -> Option<&'static HelpTopic> {
    TOPICS.iter().find(|topic| topic.file.rsplit('/').next() == Some(name))
}

//! The topics of `help TOPIC`: the pages of `docs/`, in the order in which `help` lists them.

#[derive(Clone, Copy, Debug)]
pub(crate) struct HelpTopic {
    /// As it is typed after `tofu-oci help`.
    pub(crate) name: &'static str,
    /// What the page is about, in a few words.
    pub(crate) about: &'static str,
    /// The name of its file in `docs/`, by which other pages link to it.
    pub(super) file: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! topics {
    ($($name:literal, $file:literal, $about:literal;)*) => {
        &[$(HelpTopic { name: $name, about: $about, file: $file, text: include_str!(concat!("../../../../docs/", $file)) }),*]
    };
}

/// Every page of `docs/`, in the order in which `help` lists them. `check` and `config` are verbs, so their pages have
/// other names.
pub(crate) const TOPICS: &[HelpTopic] = topics! {
    "guide", "guide.md", "a walk through five modules and a local registry";
    "publishing", "publishing.md", "inputs, tags, layouts, signing";
    "modules", "modules.md", "modules in OCI repositories: what is packed, checked and written";
    "installing", "installing.md", "where packages go, the lock file, Terraform, sites without network";
    "caching", "caching.md", "packages that projects share, disk space, images for CI";
    "mirroring", "mirror.md", "providers of others in your own registry, by rules";
    "running", "run.md", "terraform, tofu and terragrunt with providers from OCI repositories";
    "configuration", "configuration.md", "the CLI configuration, how methods are combined";
    "differences", "differences.md", "what tofu-oci decides otherwise than OpenTofu, and why";
    "registries", "registries.md", "what each registry needs and cannot do";
    "credentials", "credentials.md", "which login is used for which repository";
    "network", "network.md", "certificates, proxies, retries, time limits, size limits";
    "serving", "serve.md", "a network mirror and provider registry out of repositories: every setting, how to run it";
    "bundles", "bundle.md", "one file for a site without network, files for a web server";
    "trust", "trust.md", "signatures, the trust policy, pins";
    "openpgp", "openpgp.md", "OpenPGP signatures of SHA256SUMS";
    "checking", "check.md", "how to use `tofu-oci check`, and what it predicts";
    "rules", "rules.md", "every rule of `tofu-oci check`";
    "errors", "errors.md", "every code of errors, warnings and notes";
    "exit-codes", "exit-codes.md", "what the exit codes mean";
    "environment", "environment.md", "every environment variable";
    "json", "json.md", "the JSON lines of --json";
};

/// The topic of this name.
pub(crate) fn topic(name: &str) -> Option<&'static HelpTopic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The topic whose page is this file of `docs/`.
pub(super) fn of_file(file: &str) -> Option<&'static HelpTopic> {
    TOPICS.iter().find(|topic| topic.file == file)
}

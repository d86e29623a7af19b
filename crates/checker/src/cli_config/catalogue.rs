//! Every rule by its name.

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its name, as in findings. HCL's name of a fault follows a `:`, as in `hcl:FAULT`.
    pub id: &'static str,
    /// The levels of its findings.
    pub levels: &'static str,
    /// What it finds, in one line.
    pub finds: &'static str,
}

const fn rule(id: &'static str, levels: &'static str, finds: &'static str) -> RuleInfo {
    RuleInfo { id, levels, finds }
}

/// The rules, in the order of the table of `docs/reference/config-findings.md`.
pub const RULES: &[RuleInfo] = &[
    rule(
        "hcl1-parse",
        "error",
        "a syntax error, a repeated argument (1.12 and later) or a setting of the wrong kind: the whole file is dropped",
    ),
    rule(
        "cli-config-missing",
        "error",
        "a variable names a file that is not there: no other file is read in its place",
    ),
    rule("cli-config-unreadable", "error", "a file that is there and cannot be read"),
    rule("opentofu-crash", "error", "a text that OpenTofu crashes on"),
    rule(
        "file-passed-over",
        "warning, note",
        "a file that looks like configuration and is not read; a note if a variable names another one",
    ),
    rule("terraform-reads-it-too", "warning", "an `oci_mirror` in a file that Terraform reads too"),
    rule("ignored-text", "warning", "a text that OpenTofu silently passes over"),
    rule("misspelt-name", "error", "a name that is nearly a known one: OpenTofu silently ignores what it says"),
    rule("ignored-block", "warning", "an unknown block"),
    rule("ignored-argument", "warning, note", "an unknown argument; a note if newer releases know it"),
    rule("block-equals", "error", "`provider_installation = {…}` and other blocks with `=`: the block does not count"),
    rule("block-label", "error", "a label on `provider_installation`"),
    rule("two-blocks", "error", "two `provider_installation` blocks: the first is used"),
    rule(
        "empty-installation",
        "error",
        "a `provider_installation` without any method that counts: nothing can be installed",
    ),
    rule("method-not-block", "error", "a method with `=`, or as an object in JSON"),
    rule("method-label", "error", "a label on a method"),
    rule("unknown-method", "error", "a block in `provider_installation` that is not a method"),
    rule("decode", "error", "a value of the wrong kind in a block: the block is dropped"),
    rule("path-required", "error", "a `filesystem_mirror` without `path`"),
    rule("url-required", "error", "a `network_mirror` without `url`"),
    rule("mirror-url", "error", "a `network_mirror` whose `url` is invalid"),
    rule(
        "mirror-url-unused",
        "warning",
        "a part of a `network_mirror`'s `url` that no request has: what follows its last `/`, or its query",
    ),
    rule("mirror-host-port", "error", "a `network_mirror` for providers whose host has a port, which it cannot serve"),
    rule("trust-all-hashes", "warning", "`trust_all_hashes` for other hosts than `registry.opentofu.org`"),
    rule("include-pattern", "error", "a text in `include` that is not a pattern: the method is dropped"),
    rule("exclude-pattern", "error", "a text in `exclude` that is not a pattern: the method is dropped"),
    rule(
        "pattern-default-host",
        "warning",
        "a pattern of two parts, which means the default host only, beside other hosts",
    ),
    rule("dev-overrides-order", "error", "`dev_overrides` after a method"),
    rule("dev-overrides-address", "error", "an entry of `dev_overrides` that is not an address"),
    rule("dev-override-missing", "error", "a folder of `dev_overrides` that is not there"),
    rule("dev-override-active", "note", "a provider that comes from the folder of its developer"),
    rule("template-required", "error", "an `oci_mirror` without `repository_template`"),
    rule("unknown-symbol", "error", "a template that mentions a name other than `hostname`, `namespace`, `type`"),
    rule("missing-hostname", "error", "a template without `${hostname}`, although `include` leaves the host open"),
    rule("missing-namespace", "error", "the same with `${namespace}`"),
    rule("missing-type", "error", "the same with `${type}`"),
    rule("hcl:FAULT", "error", "a fault in the expressions of a template, such as quotes with `\\` inside `${ }`"),
    rule("not-a-string", "error", "a template that gives a list or an object"),
    rule("null-result", "error", "a template that gives null"),
    rule("invalid-repository-address", "error", "a template whose result is not a repository address"),
    rule("template-hole", "warning", "a template that leads different providers to one repository"),
    rule("template-no-repository", "error", "a template that gives a registry without a repository"),
    rule(
        "template-fails",
        "error",
        "a template that works for others, and not for a provider that is named or required",
    ),
    rule("template-escape", "warning", "`$${`, which is a literal `${`"),
    rule("registry-upper-case", "warning", "a registry in capital letters"),
    rule("registry-port", "warning", "a registry with an empty port or one beyond 65535"),
    rule("mirror-overlap", "warning", "an `oci_mirror` or `network_mirror` that overlaps with a later method"),
    rule("unreachable-method", "warning", "a method that serves no provider"),
    rule("order-decides", "note", "a wide `direct` before a narrow method"),
    rule("direct-needs-origin", "error, note", "`direct` for hosts that are only names, or that a mirror names too"),
    rule("magic-host", "note", "a required provider whose host names a registry: only tofu-oci installs it"),
    rule("folder-missing", "error, warning", "a `filesystem_mirror` whose folder is not there, or is not a folder"),
    rule("path-not-expanded", "error", "`~` or `$NAME` in the path of a `filesystem_mirror`"),
    rule("path-relative", "note", "a path that depends on the working directory"),
    rule("implicit-folders", "note", "providers in a local folder that are cut off from their registry"),
    rule("provider-not-covered", "error", "a required provider that no method is for"),
    rule("lock-h1-only", "error", "a lock file with `h1:` alone for a provider that comes from an `oci_mirror`"),
    rule("plugin-cache-dir", "error", "a plugin cache folder that is not there; it is used all the same"),
    rule("invalid-host-label", "error", "a `host` or `credentials` block whose label is not a host"),
    rule("two-helpers", "error", "two `credentials_helper` blocks"),
    rule("duplicate-block", "error", "a block that can stand once only"),
    rule("block-label-count", "error", "a block with too many or too few labels"),
    rule("block-not-object", "error", "a block that is not an object in JSON"),
    rule(
        "block-invalid-label",
        "error",
        "an `oci_credentials` block whose label is neither a registry nor a repository",
    ),
    rule("block-argument-type", "error", "an argument of the wrong kind in a block of credentials"),
    rule("block-no-style", "error", "`oci_credentials` without credentials"),
    rule("block-two-styles", "error", "`oci_credentials` with more than one kind of credentials"),
    rule("block-basic-needs-both", "error", "a user name without a password, or the reverse"),
    rule("block-oauth-needs-both", "error", "an access token without a refresh token, or the reverse"),
    rule(
        "block-files-without-discovery",
        "error",
        "`docker_style_config_files` beside `discover_ambient_credentials = false`",
    ),
    rule("helper-with-path", "error", "a credential helper for a repository instead of a registry"),
    rule("invalid-helper-name", "error", "a name that no credential helper can have"),
    rule("tofu-oci-block", "error", "a fault in the block `tofu_oci`, which only this program reads"),
];

impl RuleInfo {
    /// Whether a finding of this name is one of the rule's.
    pub fn is_of(&self, name: &str) -> bool {
        let start = |text: &str| text.split(':').next().map(str::to_owned);
        self.id == name || (self.id.contains(':') && name.contains(':') && start(self.id) == start(name))
    }
}

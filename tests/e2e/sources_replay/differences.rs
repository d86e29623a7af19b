//! Where the program decides otherwise than `OpenTofu`: the one list. `docs/reference/differences.md` shows it to people.
//!
//! Each decision names its cases, and the whole outcome of each. A case of the list that comes out as measured, or in yet
//! another way, is an error; so is a decision without a case.

/// A decision.
pub(super) struct Difference {
    /// A word for it.
    pub(super) name: &'static str,
    /// What `OpenTofu` does.
    pub(super) opentofu: &'static str,
    /// What the program does.
    pub(super) ours: &'static str,
    pub(super) outcomes: &'static [Ours],
}

/// An outcome, and the cases that have it.
pub(super) struct Ours {
    pub(super) ends: Ends,
    pub(super) cases: &'static [&'static str],
}

/// How a run ends, and what it leaves.
pub(super) enum Ends {
    /// With this exit code and this code of the error (empty: none). Nothing is installed, the lock file is as it was.
    With { exit: i32, code: &'static str },
    /// A package is installed from a repository, or by another method of the cases, which is named. `lock` are the lines of
    /// the provider's entry, which is the only one: `h1`, `zh` and `ch` mean those of the package, other texts themselves.
    Installs { version: &'static str, from: &'static str, lock: &'static [&'static str] },
    /// A lock file is written, and nothing is installed.
    Locks { version: &'static str, repository: &'static str, lock: &'static [&'static str] },
}

/// All decisions but one: every error in the CLI configuration ends the run with exit code 2 and its code, for all cases
/// that have one ([`super::tally::ERRORS_STOP`]).
pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "misspelt-names-stop",
        opentofu: "ignores `provider_instalation` without a word",
        ours: "stops with exit code 2 if a name is nearly a known one",
        outcomes: &[with(2, "misspelt-name", &["cfg-implied-on-with-misspelt-block"])],
    },
    Difference {
        name: "for-is-refused",
        opentofu: "evaluates `for` in a template",
        ours: "refuses it, exit code 2",
        outcomes: &[with(2, "hcl:not-supported", &["tpl-directive-for", "tpl-directive-for2", "tpl-for-expression"])],
    },
    Difference {
        name: "one-syntax-code",
        opentofu: "has a heading for each way in which a template does not parse",
        ours: "has one code for all of them, exit code 2",
        outcomes: &[with(2, "hcl:invalid-syntax", &["tpl-syntax-two-words", "tpl-syntax-unclosed-if"])],
    },
    Difference {
        name: "ports-end-at-65535",
        opentofu: "hands a port beyond 65535 to its proxy",
        ours: "cannot reach such a registry, exit code 3",
        outcomes: &[with(3, "dns", &["tpl-port-99999"])],
    },
    Difference {
        name: "nothing-required",
        opentofu: "a configuration that requires built-in providers alone: does nothing, exit code 0",
        ours: "says that no provider is required, exit code 2",
        outcomes: &[with(2, "usage", &["inc-builtin-untouched"])],
    },
    Difference {
        name: "h1-is-enough",
        opentofu: "an `oci_mirror` needs a right `zh:` in the lock file, and refuses the package with the right `h1:` alone (`lock-mismatch`)",
        ours: "checks `h1:` after unpacking into a temporary folder, installs, and adds `zh:` and `ch:`",
        outcomes: &[
            installs(
                M,
                &["ch", "h1", "zh"],
                &[
                    "lock-upgrade-same-version-h1-only",
                    "lock-cache-empty-h1",
                    "lock-made-by-fs-served-by-oci-same-bytes",
                ],
            ),
            installs(
                M,
                &["ch", "h1", "zh", OTHER_PLATFORM],
                &["lock-oci-zh-other-platform-h1", "lock-cache-empty-zh-other-platform-h1"],
            ),
            installs(M, &["ch", "h1", "zh", WRONG_ZH], &["lock-cache-empty-wrong-zh-right-h1"]),
            installs(M, &[OTHER_CH, "ch", "h1", "zh"], &["lock-oci-ch-and-h1", "lock-cache-empty-ch-and-h1"]),
        ],
    },
    Difference {
        name: "ch-alone-binds",
        opentofu: "takes an entry of `ch:` lines alone for one without checksums, and installs any package",
        ours: "refuses a package that they do not name (`lock-mismatch`): one recorded checksum must match",
        outcomes: &[with(
            1,
            "lock-mismatch",
            &[
                "lock-oci-ch-only",
                "lock-cache-empty-ch-only",
                "lock-cache-full-ch-only",
                "lock-direct-ch-only",
                "lock-fs-packed-ch-only",
            ],
        )],
    },
    Difference {
        name: "ch-lines-stay",
        opentofu: "drops the `ch:` of another manifest beside a right `zh:`",
        ours: "keeps it; with a package from an OCI registry it also warns (`other-manifest`) and adds that of the manifest that was installed",
        outcomes: &[
            installs(
                M,
                &[OTHER_CH, "ch", "h1", "zh"],
                &["lock-oci-ch-and-zh", "lock-cache-empty-ch-and-zh", "lock-cache-full-ch-and-zh"],
            ),
            installs(
                "direct",
                &[OTHER_CH, "h1", "zh", DIRECT_OTHER_PLATFORM],
                &["lock-direct-ch-and-zh", "lock-direct-ch-and-h1"],
            ),
            installs("network_mirror", &[OTHER_CH, "h1", "zh"], &["lock-net-ch-and-zh", "lock-net-ch-and-h1"]),
            installs("filesystem_mirror", &[OTHER_CH, "h1", "zh"], &["lock-fs-packed-ch-and-zh"]),
            installs("filesystem_mirror", &[OTHER_CH, "h1"], &["lock-fs-packed-ch-and-h1"]),
        ],
    },
    Difference {
        name: "unknown-schemes-stay",
        opentofu: "drops lines of the lock file whose scheme it does not know",
        ours: "keeps them",
        outcomes: &[
            installs(M, &["ch", "h1", "zh", "h2:abc"], &["lock-cache-full-unknown-h2"]),
            installs(
                M,
                &["ch", "h1", "zh", "ZH:0000000000000000000000000000000000000000000000000000000000000000"],
                &["lock-oci-uppercase-scheme"],
            ),
            installs("direct", &["h1", "zh", DIRECT_OTHER_PLATFORM, "h2:abc"], &["lock-direct-unknown-h2"]),
            installs("filesystem_mirror", &["h1", "h2:abc"], &["lock-fs-unpacked-unknown-h2"]),
        ],
    },
    Difference {
        name: "folders-are-checked",
        opentofu: "links an unpacked package of a `filesystem_mirror` without a check if the lock file has `zh:` lines alone",
        ours: "refuses it (`lock-mismatch`): a folder has no `zh:`, and one recorded checksum must match",
        outcomes: &[with(
            1,
            "lock-mismatch",
            &[
                "lock-fs-unpacked-zh",
                "lock-fs-unpacked-zh-other-platform",
                "lock-fs-unpacked-wrong-zh",
                "lock-fs-unpacked-ch-and-zh",
            ],
        )],
    },
    Difference {
        name: "silence-ends",
        opentofu: "waits for an OCI registry that never answers, without end",
        ours: "gives up (`timeout`), exit code 3",
        outcomes: &[with(3, "timeout", &["fail-fs-ok-then-oci-hang"])],
    },
    Difference {
        name: "tags-are-canonical",
        opentofu: "takes the tag `2` for 2.0.0, and fails because there is no tag `2.0.0`",
        ours: "installs the version whose tag is canonical, and warns",
        outcomes: &[installs(M, &["ch", "h1", "zh"], &["fail-oci-stray-tag-then-fs"])],
    },
    Difference {
        name: "digests-are-computed",
        opentofu: "refuses a manifest without the header `Docker-Content-Digest` (`missing-digest-header`)",
        ours: "installs it: the digest is that of the bytes, whatever a header says",
        outcomes: &[installs(M, &["ch", "h1", "zh"], &["fail-oci-broken-no-digest-header-then-fs"])],
    },
    Difference {
        name: "other-commands",
        opentofu: "`version`, `fmt` and `validate` print the errors of the CLI configuration and go on",
        ours: "`--version` does not read it; there is no `fmt` and no `validate`, exit code 2",
        outcomes: &[
            with(0, "", &["cfg-command-version-syntax", "cfg-command-version-bad-include"]),
            with(2, "", &["cfg-command-validate-syntax", "cfg-command-fmt-syntax", "cfg-command-fmt-missing"]),
        ],
    },
    Difference {
        name: "lock-asks-the-methods",
        opentofu: "`providers lock` asks the origin whatever is configured, or what `-oci-mirror` names with `{namespace}`",
        ours: "`lock` asks where `install` would, or what `--from` names with `${namespace}`",
        outcomes: &[
            locks(
                &["ch", "h1", "zh"],
                &["cmd-providers-lock-not-at-origin", "cmd-providers-lock-oci-flag-hcl-template"],
            ),
            with(2, "usage", &["cmd-providers-lock-oci-flag"]),
        ],
    },
];

/// The repository of most cases.
const M: &str = "oci.example.test/m/acme/widget";
/// The `zh:` of the measured package for another platform.
const OTHER_PLATFORM: &str = "zh:f7cb24ca454d18cd1f33b26072ed5ba26a7ffa5cd8333f15e4536fd57115dc5b";
/// The `zh:` of the measured package of an origin registry for another platform.
const DIRECT_OTHER_PLATFORM: &str = "zh:fb398fa68ca3797f6912d2722d3abdcd9cfe738c66821a2aa8d07849c3a668a1";
/// The `ch:` of no manifest.
const OTHER_CH: &str = "ch:sha256:1111111111111111111111111111111111111111111111111111111111111111";
const WRONG_ZH: &str = "zh:0000000000000000000000000000000000000000000000000000000000000000";

const fn with(exit: i32, code: &'static str, cases: &'static [&'static str]) -> Ours {
    Ours { ends: Ends::With { exit, code }, cases }
}

const fn installs(from: &'static str, lock: &'static [&'static str], cases: &'static [&'static str]) -> Ours {
    Ours { ends: Ends::Installs { version: "1.0.0", from, lock }, cases }
}

const fn locks(lock: &'static [&'static str], cases: &'static [&'static str]) -> Ours {
    Ours { ends: Ends::Locks { version: "1.1.0", repository: M, lock }, cases }
}

//! Where this program decides otherwise than `OpenTofu`: the one list. For people it stands in `docs/credentials.md`.
//!
//! Each decision names its cases and what comes of each of them here, in the words of the cases. A case of the list that
//! comes out as measured, or in yet another way, is an error; so is a decision without a case.

/// A decision.
pub(super) struct Difference {
    /// A word for it.
    pub(super) name: &'static str,
    /// What `OpenTofu` does.
    pub(super) opentofu: &'static str,
    /// What this program does.
    pub(super) ours: &'static str,
    /// What comes here, and of which cases.
    pub(super) outcomes: &'static [Ours],
}

/// What comes of some cases here: `expect` and `observed` in the words of the cases, as JSON.
pub(super) struct Ours {
    pub(super) expect: &'static str,
    pub(super) observed: &'static str,
    pub(super) cases: &'static [&'static str],
}

/// Cases that need no words beside `expect`.
const fn ours(expect: &'static str, cases: &'static [&'static str]) -> Ours {
    Ours { expect, observed: "{}", cases }
}

/// Cases with helpers or token servers.
const fn seen(expect: &'static str, observed: &'static str, cases: &'static [&'static str]) -> Ours {
    Ours { expect, observed, cases }
}

/// All decisions.
pub(super) const DIFFERENCES: &[Difference] = &[Difference {
    name: "broken-files-stand-alone",
    opentofu: "One file of the search that cannot be read or understood, or one wrong entry of whatever host, turns all files off, without a word.",
    ours: "What is wrong is left out, with a warning that names file, line and reason; everything else counts.",
    outcomes: &[
        ours(
            r#"{"basic": "xr:pw"}"#,
            &[
                "home-dev-null",
                "empty-file",
                "json-auths-array",
                "json-bom",
                "json-trailing-comma",
                "json-trailing-text",
                "json-credsstore-number",
                "file-is-directory",
                "parent-is-file",
                "unreadable-file",
                "bad-base64-other-host",
                "auth-number",
                "auth-entry-string",
            ],
        ),
        ours(r#"{"basic": "docker:pw"}"#, &["bad-json-earlier-file", "bad-dockercfg"]),
    ],
}];

//! Where this program decides otherwise than `OpenTofu`: the one list. `docs/reference/differences.md` shows it to people.
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
    /// What comes here, and of which cases; there may be further ones.
    outcomes: &'static [Ours],
}

impl Difference {
    /// What comes here, and of which cases.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = &'static Ours> + use<> {
        self.outcomes.iter().chain(super::further::of(self.name))
    }
}

/// What comes of some cases here: `expect` and `observed` in the words of the cases, as JSON.
pub(super) struct Ours {
    pub(super) expect: &'static str,
    pub(super) observed: &'static str,
    pub(super) cases: &'static [&'static str],
}

/// Cases that need no words beside `expect`.
pub(super) const fn ours(expect: &'static str, cases: &'static [&'static str]) -> Ours {
    Ours { expect, observed: "{}", cases }
}

/// Cases with helpers or token servers.
pub(super) const fn seen(expect: &'static str, observed: &'static str, cases: &'static [&'static str]) -> Ours {
    Ours { expect, observed, cases }
}

/// All decisions.
pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "broken-files-stand-alone",
        opentofu: "one file of the search that cannot be read or understood, or one wrong entry of whatever host in it, turns all files off, without a word",
        ours: "what is wrong is left out with a warning that names file, line and reason; everything else counts",
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
            ours(
                r#"{"basic": "xr:correct-horse-battery"}"#,
                &[
                    "link-loop",
                    "json-array",
                    "json-credhelpers-array",
                    "json-credhelpers-number-value",
                    "json-truncated",
                    "base64-unpadded",
                ],
            ),
            ours(r#"{"basic": "docker:pw"}"#, &["bad-json-earlier-file", "bad-dockercfg"]),
        ],
    },
    Difference {
        name: "logins-are-text",
        opentofu: "a login in `auth` that is not UTF-8 is sent as it is",
        ours: "the entry is left out with a warning",
        outcomes: &[ours(r#"{"anonymous": true}"#, &["entry-latin1"])],
    },
    Difference {
        name: "auth-without-colon-is-told",
        opentofu: "an `auth` without a colon, alone for the repository, is anonymous access without a word",
        ours: "it is the error `auth-without-colon` when a credential is needed, as it is beside other sources",
        outcomes: &[ours(r#"{"error": "auth-without-colon"}"#, &["entry-no-colon", "default-files-no-colon"])],
    },
    Difference {
        name: "wrong-blocks-stop",
        opentofu: "a wrong `oci_credentials` or `oci_default_credentials` block prints an error and is left out, the run goes on with what is left, or crashes (two default blocks)",
        ours: "an error before any request, exit code 2",
        outcomes: &[
            ours(
                r#"{"error": "block-argument-type"}"#,
                &["default-discover-string-false", "default-discover-number", "default-files-string"],
            ),
            ours(r#"{"error": "duplicate-block"}"#, &["default-two-blocks"]),
            ours(r#"{"error": "block-label-count"}"#, &["default-label"]),
            ours(r#"{"error": "block-files-without-discovery"}"#, &["default-inconsistent"]),
            ours(
                r#"{"error": "invalid-helper-name"}"#,
                &["default-helper-empty", "default-helper-slash", "block-helper-empty", "block-helper-slash"],
            ),
            ours(r#"{"error": "helper-with-path"}"#, &["block-helper-path"]),
            ours(r#"{"error": "duplicate-block"}"#, &["block-same-label"]),
            ours(
                r#"{"error": "block-invalid-label"}"#,
                &["block-upper-path", "block-slash-label", "block-tag-label", "block-empty-label", "block-label-https"],
            ),
            ours(r#"{"error": "block-label-count"}"#, &["block-no-label", "block-two-labels"]),
            ours(r#"{"error": "hcl1-parse"}"#, &["block-assign"]),
            ours(r#"{"error": "block-no-style"}"#, &["block-none"]),
            ours(r#"{"error": "block-two-styles"}"#, &["block-basic-and-helper"]),
            ours(
                r#"{"error": "block-basic-needs-both"}"#,
                &["block-user-only", "block-pass-only", "block-error-other-host"],
            ),
            ours(r#"{"error": "block-oauth-needs-both"}"#, &["block-access-only", "block-refresh-only"]),
        ],
    },
    Difference {
        name: "misspelt-arguments-stop",
        opentofu: "an argument that is nearly a known one passes silently and does nothing",
        ours: "an error before any request; other unknown arguments pass",
        outcomes: &[ours(r#"{"error": "misspelt-name"}"#, &["default-unknown-argument"])],
    },
    Difference {
        name: "empty-user-or-token-in-a-block",
        opentofu: "a block with `username = \"\"` or `access_token = \"\"`, alone for the repository, is anonymous access without a word",
        ours: "it is the error `block-style-undecided` when a credential is needed, as it is beside other sources",
        outcomes: &[ours(r#"{"error": "block-style-undecided"}"#, &["block-user-empty", "block-token-empty-access"])],
    },
    Difference {
        name: "helper-names-are-checked",
        opentofu: "a helper name of a file is appended to `docker-credential-` as it is, and one with a slash is run as a path relative to the working directory",
        ours: "names are letters, digits, `.`, `_` and `-`; another one is never run: the error `invalid-helper-name` when it would be asked",
        outcomes: &[ours(
            r#"{"error": "invalid-helper-name"}"#,
            &["helper-name-with-slash", "helper-name-dotdot", "helper-name-absolute"],
        )],
    },
    Difference {
        name: "helpers-are-asked-once",
        opentofu: "a helper is asked for every repository anew, and up to 1.12 twice where the registry wants a token",
        ours: "once for a server and run",
        outcomes: &[
            seen(
                r#"{"basic": "hu:hp"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1"}"#,
                &["wire-two-repos-helper"],
            ),
            seen(
                r#"{"bearer_from": {"basic": "hu:helper-correct-horse-battery"}}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1", "token_requests": 2}"#,
                &["wire-two-repos-bearer-helper"],
            ),
        ],
    },
    Difference {
        name: "second-question-to-a-helper",
        opentofu: "a helper is asked for `https://HOST` alone, though logins are stored under other names too",
        ours: "after \"not found\" or an empty answer it is asked once more, for the text of the entry that `docker login` left in the same file, or for the `credHelpers` key of a containers file",
        outcomes: &[seen(
            r#"{"anonymous": true}"#,
            r#"{"helper_calls": 2, "helper_argv": "get", "helper_stdin": ["https://registry.example.test:5000", "registry.example.test:5000"], "helper_name": "h1"}"#,
            &["helper-mark-other-key"],
        )],
    },
    Difference {
        name: "identity-tokens-are-used",
        opentofu: "`identitytoken` is ignored, so that the cloud form sends an empty password or nothing, and `<token>` of a helper is an error",
        ours: "the token server gets it as a refresh token (POST), where `auth` has no password; with Basic it is of no use: `incomplete-basic`",
        outcomes: &[
            seen(r#"{"bearer_from": {"refresh": "idt"}}"#, r#"{"token_requests": 1}"#, &["entry-acr-identitytoken"]),
            seen(
                r#"{"bearer_from": {"refresh": "identity-correct-horse-battery"}}"#,
                r#"{"token_requests": 1}"#,
                &["entry-identitytoken-alone"],
            ),
            seen(
                r#"{"bearer_from": {"refresh": "helper-correct-horse-battery"}}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1", "token_requests": 1}"#,
                &["helper-token-user-bearer"],
            ),
            seen(
                r#"{"error": "incomplete-basic"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1"}"#,
                &["helper-token-user-basic"],
            ),
        ],
    },
    Difference {
        name: "more-files-are-read",
        opentofu: "`DOCKER_CONFIG` and `REGISTRY_AUTH_FILE` are ignored",
        ours: "`$REGISTRY_AUTH_FILE` is read before all others and `$DOCKER_CONFIG/config.json` before `~/.docker/config.json`; neither hides another file",
        outcomes: &[
            ours(r#"{"basic": "dc:pw"}"#, &["loc-DOCKER_CONFIG", "loc-DOCKER_CONFIG-home-still-read"]),
            ours(r#"{"basic": "rf:correct-horse-battery"}"#, &["loc-REGISTRY_AUTH_FILE"]),
        ],
    },
    Difference {
        name: "docker-hub-has-its-names",
        opentofu: "`docker.io/...` is asked at registry-1.docker.io, and no key, block or helper for it is used",
        ours: "keys and blocks `docker.io`, `https://index.docker.io/v1/`, `index.docker.io` and `registry-1.docker.io` serve it, and helpers are asked for `https://index.docker.io/v1/`",
        outcomes: &[
            ours(r#"{"basic": "user:correct-horse-battery"}"#, &["key-docker.io", "key-docker.io-v1-url"]),
            ours(r#"{"basic": "blk:block-correct-horse-battery"}"#, &["block-docker.io"]),
            seen(
                r#"{"basic": "hu:hp"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://index.docker.io/v1/", "helper_name": "h1"}"#,
                &["helper-docker.io-never-run"],
            ),
            // The login is the block's, and the token server of this case is of another site.
            ours(r#"{"error": "realm-other-site"}"#, &["block-docker.io-bearer"]),
        ],
    },
    Difference {
        name: "never-random",
        opentofu: "of the keys `HOST/a` and `HOST/a:` in one file either wins, from run to run",
        ours: "the key that is written exactly so wins",
        outcomes: &[ours(r#"{"basic": "exact:correct-horse-battery"}"#, &["tie-same-parse"])],
    },
    Difference {
        name: "challenges-are-read-whole",
        opentofu: "of several `WWW-Authenticate` lines the first counts, whatever its scheme; an unquoted realm breaks at its colon",
        ours: "the first challenge of a known scheme counts, and a realm is taken whole",
        outcomes: &[
            ours(r#"{"basic": "user:pass"}"#, &["wire-two-headers-unknown-first"]),
            seen(r#"{"bearer_from": {"basic": "user:pass"}}"#, r#"{"token_requests": 1}"#, &["wire-bearer-unquoted"]),
            seen(
                r#"{"bearer_from": {"basic": "user:correct-horse-battery"}}"#,
                r#"{"token_requests": 1}"#,
                &["wire-token68-first"],
            ),
        ],
    },
    Difference {
        name: "no-realm-at-an-address",
        opentofu: "a realm at a public IP address, or at one that carriers share (100.64.0.0/10), gets the password",
        ours: "it is refused, also without credentials, unless the registry itself is at that address or `--token-host` names it: `realm-other-site`, `realm-private-address`",
        outcomes: &[],
    },
    Difference {
        name: "nothing-asked-nothing-stops",
        opentofu: "an `auth` without a colon, beside another source that fits, stops it before the first request, also where the registry asks for nothing",
        ours: "credentials are looked at once the registry asks: a broken login does not stop a request that needs no login",
        outcomes: &[],
    },
    Difference {
        name: "no-login-in-a-realm",
        opentofu: "a login in the realm's address is sent to the token server where no credentials are known",
        ours: "such a realm is refused: `realm-user-info`",
        outcomes: &[ours(
            r#"{"error": "realm-user-info"}"#,
            &["wire-realm-userinfo", "wire-realm-user-info-and-login"],
        )],
    },
    Difference {
        name: "passwords-stay-on-the-site",
        opentofu: "any host that a realm names gets the password",
        ours: "a token server of another site gets none: `realm-other-site`, unless `--token-host` names it; anonymous tokens are taken anywhere",
        outcomes: &[ours(r#"{"error": "realm-other-site"}"#, &["wire-realm-other-site"])],
    },
    Difference {
        name: "no-realm-on-this-machine",
        opentofu: "a realm on `localhost`, by name, gets the password of a registry elsewhere",
        ours: "it is refused, as its address is, unless `--token-host` names it: `realm-private-address`",
        outcomes: &[ours(r#"{"error": "realm-private-address"}"#, &["wire-realm-localhost"])],
    },
    Difference {
        name: "logins-are-not-redirected",
        opentofu: "a token server that redirects to another origin is asked there anonymously, and the anonymous token is used silently",
        ours: "where a login was sent it is the error `token-redirect`; an anonymous request follows over HTTPS",
        outcomes: &[
            seen(
                r#"{"bearer_from": {"basic": "user:pass"}, "error": "token-redirect"}"#,
                r#"{"token_requests": 1}"#,
                &["wire-token-redirect-other-port", "wire-token-redirect-http"],
            ),
            seen(
                r#"{"bearer_from": {"basic": "user:correct-horse-battery"}, "error": "token-redirect"}"#,
                r#"{"token_requests": 1}"#,
                &["wire-token-redirect-other-host"],
            ),
        ],
    },
    Difference {
        name: "downloads-stay-on-https",
        opentofu: "a blob that is redirected from HTTPS to plain HTTP is fetched there",
        ours: "it is refused, unless `--plain-http` names the host: `redirect-downgrade`",
        outcomes: &[ours(
            r#"{"basic": "user:pass", "error": "redirect-downgrade"}"#,
            &["wire-blob-redirect-subdomain-http"],
        )],
    },
];

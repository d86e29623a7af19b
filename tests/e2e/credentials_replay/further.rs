//! More cases of the decisions: those that were measured beside the table of the specification.

use super::differences::{Ours, ours, seen};

/// The cases of a decision that are not named with it.
pub(super) fn of(decision: &str) -> &'static [Ours] {
    FURTHER.iter().find(|(name, _)| *name == decision).map_or(&[], |(_, cases)| cases)
}

const FURTHER: &[(&str, &[Ours])] = &[
    (
        "broken-files-stand-alone",
        &[
            ours(
                r#"{"basic": "docker:correct-horse-battery"}"#,
                &[
                    "loc-xdg-runtime-dev-null",
                    "loc-xdg-config-dev-null",
                    "base64-bad-file-and-default-helper",
                    "unreadable-file-first",
                    "folder-earlier-file",
                    "dockercfg-directory",
                    "dot-config-is-file",
                ],
            ),
            ours(
                r#"{"basic": "xr:correct-horse-battery"}"#,
                &[
                    "file-blank",
                    "file-comment",
                    "file-string",
                    "file-auths-string",
                    "file-entry-array",
                    "file-auth-true",
                    "file-auth-list-big",
                    "file-credhelpers-string",
                    "file-credsstore-false",
                    "file-credsstore-fold",
                    "file-nul-byte",
                    "file-two-objects",
                    "file-bad-escape",
                    "base64-leading-blank",
                    "base64-extra-pad",
                    "base64-bad-third-file",
                    "link-to-directory",
                    "link-to-dev-null",
                    "link-through-file",
                    "unreadable-folder",
                    "module-off-basic",
                ],
            ),
            ours(r#"{"basic": "two:correct-horse-battery"}"#, &["file-host-first-bad-then-good"]),
            seen(
                r#"{"basic": "hu:helper-correct-horse-battery"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1"}"#,
                &["base64-bad-own-and-helper"],
            ),
            seen(
                r#"{"bearer_from": {"basic": "xr:correct-horse-battery"}}"#,
                r#"{"token_requests": 1}"#,
                &["file-off-bearer"],
            ),
        ],
    ),
    (
        "more-files-are-read",
        &[seen(
            r#"{"basic": "hu:helper-correct-horse-battery"}"#,
            r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1"}"#,
            &["loc-docker-config-credsstore"],
        )],
    ),
    (
        "wrong-blocks-stop",
        &[
            ours(
                r#"{"error": "block-argument-type"}"#,
                &[
                    "default-discover-string-true",
                    "default-discover-one",
                    "default-discover-list",
                    "default-files-bool",
                    "default-helper-list",
                    "block-float-password",
                    "block-list-password",
                ],
            ),
            ours(r#"{"error": "hcl1-parse"}"#, &["default-discover-twice", "block-argument-twice"]),
            ours(r#"{"error": "invalid-helper-name"}"#, &["default-helper-blank"]),
            ours(r#"{"error": "block-label-count"}"#, &["default-empty-label"]),
            ours(r#"{"error": "block-equals"}"#, &["default-assign"]),
            ours(
                r#"{"error": "duplicate-block"}"#,
                &["default-two-blocks-no-challenge", "cli-json-default-two", "block-three-same"],
            ),
            ours(r#"{"error": "block-files-without-discovery"}"#, &["default-inconsistent-with-helper"]),
            ours(r#"{"error": "block-not-object"}"#, &["cli-json-default-string"]),
            ours(
                r#"{"error": "block-two-styles"}"#,
                &["block-three-styles", "block-basic-and-token", "block-user-and-helper"],
            ),
            ours(
                r#"{"error": "block-invalid-label"}"#,
                &["block-label-wild-path", "block-label-dot", "block-label-digest", "block-label-http"],
            ),
            ours(
                r#"{"error": "block-basic-needs-both"}"#,
                &[
                    "block-same-label-first-wrong",
                    "block-wrong-and-default-helper",
                    "block-wrong-open",
                    "cli-json-block-wrong",
                ],
            ),
            ours(r#"{"error": "block-no-style"}"#, &["block-wrong-and-good"]),
        ],
    ),
    (
        "docker-hub-has-its-names",
        &[
            ours(
                r#"{"basic": "user:correct-horse-battery"}"#,
                &[
                    "key-docker.io-path",
                    "key-docker.io-registry1",
                    "key-registry1-docker.io",
                    "key-registry1-v1",
                    "key-index-v1",
                ],
            ),
            seen(
                r#"{"bearer_from": {"basic": "user:correct-horse-battery"}}"#,
                r#"{"token_requests": 1}"#,
                &["key-docker.io-bearer"],
            ),
            seen(
                r#"{"basic": "hu:helper-correct-horse-battery"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://index.docker.io/v1/", "helper_name": "h1"}"#,
                &["helper-credhelpers-docker.io", "block-helper-docker.io"],
            ),
            ours(r#"{"basic": "blk:block-correct-horse-battery"}"#, &["block-docker.io-for-registry1"]),
        ],
    ),
    (
        "auth-without-colon-is-told",
        &[ours(
            r#"{"error": "auth-without-colon"}"#,
            &["entry-nocolon", "entry-nocolon-bearer", "entry-no-colon-both", "entry-no-colon-with-identity"],
        )],
    ),
    (
        "identity-tokens-are-used",
        &[
            seen(
                r#"{"bearer_from": {"refresh": "identity-correct-horse-battery"}}"#,
                r#"{"token_requests": 1}"#,
                &[
                    "entry-guid-identity-bearer",
                    "entry-user-no-password-identity-bearer",
                    "entry-token-user-identity-bearer",
                ],
            ),
            seen(
                r#"{"error": "incomplete-basic"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1"}"#,
                &["block-helper-token-user"],
            ),
        ],
    ),
    ("nothing-asked-nothing-stops", &[ours(r#"{"anonymous": true}"#, &["entry-no-colon-with-block-no-challenge"])]),
    (
        "helper-names-are-checked",
        &[ours(
            r#"{"error": "invalid-helper-name"}"#,
            &[
                "helper-name-blank-credhelpers",
                "helper-name-plus-credhelpers",
                "helper-name-at-credhelpers",
                "helper-name-slash-credsstore",
                "helper-name-slash-missing",
                "helper-name-backslash",
                "helper-name-newline",
            ],
        )],
    ),
    (
        "empty-user-or-token-in-a-block",
        &[ours(
            r#"{"error": "block-style-undecided"}"#,
            &["block-both-empty", "block-user-empty-bearer", "block-token-both-empty"],
        )],
    ),
    (
        "misspelt-arguments-stop",
        &[ours(r#"{"error": "misspelt-name"}"#, &["block-name-misspelt", "block-misspelt-argument"])],
    ),
    (
        "challenges-are-read-whole",
        &[
            seen(
                r#"{"bearer_from": {"basic": "user:correct-horse-battery"}}"#,
                r#"{"token_requests": 1}"#,
                &["wire-www-bearer-leading-comma"],
            ),
            ours(
                r#"{"basic": "user:correct-horse-battery"}"#,
                &["wire-www-negotiate-comma-basic", "wire-www-digest-first", "wire-www-empty-then-basic"],
            ),
            ours(r#"{"anonymous": true, "error": "no-credentials-for-basic"}"#, &["wire-www-digest-first-anonymous"]),
        ],
    ),
    (
        "no-realm-at-an-address",
        &[
            ours(r#"{"error": "realm-other-site"}"#, &["wire-realm-public-ip", "wire-realm-public-ip-anonymous"]),
            ours(r#"{"error": "realm-private-address"}"#, &["wire-realm-cgnat", "wire-realm-cgnat-anonymous"]),
        ],
    ),
    (
        "no-login-in-a-realm",
        &[ours(
            r#"{"error": "realm-user-info"}"#,
            &["wire-realm-user-only", "wire-realm-user-only-anonymous", "wire-realm-user-only-block-token"],
        )],
    ),
    (
        "logins-are-not-redirected",
        &[
            seen(r#"{"error": "realm-downgrade"}"#, r#"{"token_requests": 1}"#, &["wire-tok-redirect-http-anonymous"]),
            seen(
                r#"{"bearer_from": {"basic": "user:correct-horse-battery"}, "error": "token-redirect"}"#,
                r#"{"token_requests": 1}"#,
                &["wire-tok-redirect-subdomain", "wire-tok-redirect-registry"],
            ),
            seen(
                r#"{"bearer_from": {"basic": "hu:helper-correct-horse-battery"}, "error": "token-redirect"}"#,
                r#"{"helper_calls": 1, "helper_argv": "get", "helper_stdin": "https://registry.example.test:5000", "helper_name": "h1", "token_requests": 1}"#,
                &["wire-tok-redirect-helper"],
            ),
        ],
    ),
    (
        "downloads-stay-on-https",
        &[ours(
            r#"{"basic": "user:correct-horse-battery", "error": "redirect-downgrade"}"#,
            &["wire-blob-redirect-http-basic"],
        )],
    ),
];

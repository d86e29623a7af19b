//! Where attestations of upstream releases are, by address and version.

use std::fmt;
use std::str::FromStr;

use tofu_oci_types::{Pattern, ProviderAddr, Version, login_end, masked};
use url::Url;

/// Where attestations of a release are: a path or an address with `${hostname}`, `${namespace}`, `${type}` and `${version}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttestationTemplate(String);

/// Where attestations of some providers are.
#[derive(Clone, Debug)]
pub struct AttestationRule {
    /// Of these providers; empty for all.
    pub providers: Vec<Pattern>,
    pub at: AttestationTemplate,
}

/// A text that is not an [`AttestationTemplate`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAttestationTemplate {
    /// Its text, without what could be a secret.
    #[error(
        "`attestations` is {0:?}, and must be a path with a `/` or `.`, or an https:// address, with no other \
         placeholders than ${{hostname}}, ${{namespace}}, ${{type}} and ${{version}}"
    )]
    Malformed(String),
    #[error("the address in `attestations` holds a user or a password")]
    Login,
}

const PLACEHOLDERS: [&str; 4] = ["${hostname}", "${namespace}", "${type}", "${version}"];

impl AttestationTemplate {
    /// What the paths of all releases begin with: up to the last `/` before the first placeholder, or the whole path if it
    /// has none. `None` for an address.
    pub(super) fn folder(&self) -> Option<&str> {
        let Self(text) = self;
        if text.contains("://") {
            return None;
        }
        let fixed = text.find("${").map(|at| &text[..at]);
        Some(fixed.map_or(text.as_str(), |fixed| &fixed[..fixed.rfind('/').map_or(0, |at| at + 1)]))
    }

    /// Where those of a release are.
    pub fn of(&self, address: &ProviderAddr, version: &Version) -> String {
        let values = [
            ("${hostname}", address.hostname().as_str().to_owned()),
            ("${namespace}", address.namespace().to_owned()),
            ("${type}", address.provider_type().to_owned()),
            ("${version}", version.to_string()),
        ];
        values.iter().fold(self.0.clone(), |text, (name, value)| text.replace(name, value))
    }
}

impl FromStr for AttestationTemplate {
    type Err = InvalidAttestationTemplate;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = filled(text, "");
        let is_address = text.contains("://");
        let is_place = if is_address { text.starts_with("https://") } else { rest.contains(['/', '.']) };
        if !is_place || rest.contains(['$', '{', '}']) {
            return Err(InvalidAttestationTemplate::Malformed(masked(text)));
        }
        if !is_address {
            return Ok(Self(text.to_owned()));
        }
        if has_login(text) {
            return Err(InvalidAttestationTemplate::Login);
        }
        match filled(text, "x").parse::<Url>() {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(_) => Err(InvalidAttestationTemplate::Malformed(masked(text))),
        }
    }
}

/// The text with this in the place of each placeholder.
fn filled(text: &str, value: &str) -> String {
    PLACEHOLDERS.iter().fold(text.to_owned(), |text, name| text.replace(name, value))
}

/// Whether an address has a user info, as it is written or as it is understood.
fn has_login(address: &str) -> bool {
    let url: Option<Url> = filled(address, "x").parse().ok();
    let in_url = url.is_some_and(|url| !url.username().is_empty() || url.password().is_some());
    in_url || address.strip_prefix("https://").is_some_and(|rest| login_end(rest).is_some())
}

impl fmt::Display for AttestationTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<AttestationTemplate>().expect_err(text).to_string()
    }

    #[test]
    fn an_address_with_a_login_was_taken() {
        for login in ["u:hunter2@", "hunter2@", "u:a/hunter2@", "${type}:hunter2@"] {
            let error = refused(&format!("https://{login}example.com/x/${{version}}"));
            assert_eq!(error, "the address in `attestations` holds a user or a password");
        }
        assert!(refused("https:///u:hunter2@example.com/x").contains("a user or a password"));
        for good in ["https://example.com:8443/@acme/${type}@${version}?token=x", "https://${hostname}/x", "a@b/c"] {
            assert_eq!(good.parse::<AttestationTemplate>().expect(good).to_string(), good);
        }
    }

    #[test]
    fn a_word_without_a_slash_was_taken_for_a_folder() {
        for wrong in ["{version}", "${version}", "attestations", "x/{version}", "https://", "https://:99999/x"] {
            assert!(refused(wrong).contains("must be a path with a `/` or `.`"), "{wrong}");
        }
        for good in ["./${version}", "${version}.jsonl", "a/b"] {
            assert_eq!(good.parse::<AttestationTemplate>().expect(good).to_string(), good);
        }
    }

    #[test]
    fn what_all_paths_begin_with_is_known() {
        let folder = |text: &str| text.parse::<AttestationTemplate>().expect(text).folder().map(str::to_owned);
        assert_eq!(folder("a/b/${type}/x").as_deref(), Some("a/b/"));
        assert_eq!(folder("a/b-${version}.json").as_deref(), Some("a/"));
        assert_eq!(folder("${type}/${version}").as_deref(), Some(""));
        assert_eq!(folder("a/all.jsonl").as_deref(), Some("a/all.jsonl"));
        assert_eq!(folder("https://example.com/a/${version}"), None);
    }

    #[test]
    fn the_secrets_of_an_address_were_repeated() {
        for wrong in ["http://u:hunter2@example.com/x?key=hunter2", "https://u:hunter2@example.com/${name}?hunter2"] {
            let error = refused(wrong);
            assert!(error.contains("example.com") && !error.contains("hunter2"), "{error}");
        }
    }
}

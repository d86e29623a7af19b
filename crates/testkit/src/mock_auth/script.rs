//! What the mock demands and how it misbehaves, in the words of the measured credential cases.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::arrival::ArrivalKind;

/// A way to log in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MockScheme {
    /// User and password with every request.
    #[default]
    Basic,
    /// A token of a token server.
    Bearer,
    /// Nothing is demanded.
    None,
}

/// The `registry` member of a case; a word that is not known here is an error that names it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MockScript {
    /// The challenge to a request without a login.
    pub challenge: MockScheme,
    /// The `WWW-Authenticate` lines as they are; `{name}` is the repository.
    pub www: Option<Vec<String>>,
    /// Where tokens are; by default another host than the registry's.
    pub realm: Option<String>,
    /// The name of the service.
    pub service: Option<String>,
    /// The scope of the challenge: none where it is null, pull of the repository where it is not given.
    #[serde(deserialize_with = "given")]
    pub scope: Option<Option<String>>,
    /// The only logins (`user:password`) or tokens that are let in.
    pub accept: Option<Vec<String>>,
    /// The kinds that answer with this status, whatever is shown.
    pub status: BTreeMap<ArrivalKind, u16>,
    /// The kinds that demand nothing.
    pub open: Vec<ArrivalKind>,
    /// The first request of this kind with a good login is refused, and its token is dead from then on.
    pub once: Option<ArrivalKind>,
    /// How the token server answers.
    pub token: TokenScript,
    /// The text before the digest in the redirects of blobs.
    pub blob_redirect: Option<String>,
    /// What the target of these redirects demands.
    pub cdn_challenge: Option<MockScheme>,
    /// A scripted 401 says nothing about how to log in.
    #[serde(deserialize_with = "switch")]
    pub bare401: bool,
}

/// The `token` member.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenScript {
    /// The answer: a document, or a text as it is. A new token by default.
    pub body: Option<Value>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The first address redirects here.
    pub redirect: Option<String>,
    /// Whether a token needs a login.
    #[serde(deserialize_with = "switch")]
    pub demand: bool,
}

/// Where tokens are when a script does not say.
pub(super) const REALM: &str = "https://auth.example.test:5001/token";
/// The service when a script does not say.
const SERVICE: &str = "svc";

impl MockScript {
    /// The `WWW-Authenticate` lines for a request of a kind in a repository.
    pub(super) fn challenges(&self, repository: &str) -> Vec<String> {
        if let Some(lines) = &self.www {
            return lines.iter().map(|line| line.replace("{name}", repository)).collect();
        }
        match self.challenge {
            MockScheme::None => Vec::new(),
            MockScheme::Basic => vec!["Basic realm=\"mock\"".to_owned()],
            MockScheme::Bearer => {
                let realm = self.realm.as_deref().unwrap_or(REALM);
                let mut line = format!("Bearer realm=\"{realm}\"");
                line.push_str(&format!(",service=\"{}\"", self.service.as_deref().unwrap_or(SERVICE)));
                let own = || Some(format!("repository:{repository}:pull"));
                // `/v2/` is of no repository, and names no scope.
                let scope = self.scope.clone().unwrap_or_else(own).filter(|_| !repository.is_empty());
                if let Some(scope) = scope {
                    line.push_str(&format!(",scope=\"{}\"", scope.replace("{name}", repository)));
                }
                vec![line]
            }
        }
    }

    /// Whether a request of this kind must show something.
    pub(super) fn demands(&self, kind: ArrivalKind) -> bool {
        (self.www.is_some() || self.challenge != MockScheme::None) && !self.open.contains(&kind)
    }

    /// Whether a login of this scheme is of any use.
    pub(super) fn knows(&self, scheme: MockScheme) -> bool {
        let word = if scheme == MockScheme::Basic { "basic" } else { "bearer" };
        match &self.www {
            Some(lines) => lines.iter().any(|line| line.to_ascii_lowercase().contains(word)),
            None => self.challenge == scheme,
        }
    }

    /// Every text that a word of the script holds, to be searched for host names.
    pub fn texts(&self) -> Vec<&str> {
        let lines = self.www.iter().flatten();
        let words = [&self.realm, &self.token.redirect, &self.blob_redirect].into_iter().flatten();
        lines.chain(words).map(String::as_str).chain([REALM]).collect()
    }
}

/// Whether something is said, and what: null is something.
#[expect(clippy::option_option, reason = "absent, null and a text are three things here")]
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// `true` or a number that is not 0.
fn switch<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Value::deserialize(from).map(|value| value == true || value.as_u64().is_some_and(|number| number > 0))
}

//! What happens about access: which challenge came, how it was answered, what a token server was asked and answered.
//!
//! It explains afterwards why access was given or not. It never holds a secret: what was sent is cut out of everything
//! that comes back.

use serde::Serialize;
use tofu_oci_http::SecretScrubber;
use tofu_oci_types::is_unprintable;

/// Most bytes of a challenge that are shown.
const LONGEST_CHALLENGE: usize = 1024;

/// Sees each exchange, in order, from the task that makes it.
pub trait ExchangeObserver: Send + Sync {
    /// One thing that happened.
    fn saw(&self, exchange: &Exchange);
}

/// One thing that happened between this program, a registry and its token server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "exchange", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Exchange {
    /// A registry answered.
    Registry {
        /// The method.
        method: String,
        /// Scheme, host and path; never a query.
        url: String,
        /// The status of the answer.
        status: u16,
        /// What the request showed.
        shown: ShownCredential,
        /// The values of `WWW-Authenticate`, a line each, at most 1 KiB each, in order.
        challenges: Vec<String>,
        /// The registry's own code and message, if it refused and gave a reason.
        error: Option<String>,
    },
    /// A registry, or a host that it redirected to, gave no answer.
    NoAnswer {
        /// The method.
        method: String,
        /// Scheme, host and path; never a query.
        url: String,
        /// What the request showed, or would have shown.
        shown: ShownCredential,
        /// What the network reported.
        problem: String,
    },
    /// A challenge was understood, and this is how it will be answered.
    AuthScheme {
        /// `basic` or `bearer`.
        scheme: &'static str,
        /// The token server's address without query and user info.
        realm: Option<String>,
        /// The service that the token is for.
        service: Option<String>,
    },
    /// A rule of ours forbids an answer, or the user has no credential for one.
    Refused {
        /// The rule's stable name, as in [`tofu_oci_store::StoreError::credential_code`].
        code: String,
        /// The same for people.
        problem: String,
    },
    /// A registry or token server sent the request on to another address.
    Redirected {
        /// Scheme, host and path.
        from: String,
        /// Scheme, host and path.
        to: String,
        /// What the next request shows.
        shown_there: ShownCredential,
    },
    /// A token server was asked for a token.
    Token {
        /// The method.
        method: String,
        /// The address that was asked, after redirects, without query and user info.
        server: String,
        /// The service that the token is for.
        service: Option<String>,
        /// The scopes that were asked for.
        scopes: Vec<String>,
        /// What the request showed.
        shown: ShownCredential,
        /// The status of the answer; `None` if no answer came.
        status: Option<u16>,
        /// The server's own words, if it refused and gave a reason.
        error: Option<String>,
        /// What came of it.
        outcome: TokenOutcome,
    },
}

/// What a request showed to authenticate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "shown", rename_all = "kebab-case")]
pub enum ShownCredential {
    /// Nothing.
    Nothing,
    /// A name and a password.
    Basic {
        /// The name.
        username: String,
    },
    /// A token that the token server had given.
    Token,
    /// A token that was configured, and is sent as it is.
    RegistryToken,
    /// A token that buys other tokens.
    RefreshToken,
}

/// What a token server gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum TokenOutcome {
    /// A token.
    Token {
        /// How many seconds it lives, if the answer says so.
        seconds: Option<u64>,
        /// The scopes that it grants, if it is a JWT whose `access` claim can be read.
        granted: Option<Vec<String>>,
    },
    /// A redirect to this address, without its query; whether it is followed comes next.
    Elsewhere {
        /// Scheme, host and path.
        to: String,
    },
    /// No token, for this reason.
    None(String),
}

impl Exchange {
    /// The same with another form of every text that may have come from outside.
    pub(crate) fn map_text(mut self, map: &dyn Fn(&str) -> String) -> Self {
        let mut texts: Vec<&mut String> = Vec::new();
        match &mut self {
            Self::Registry { url, challenges, error, .. } => {
                texts.push(url);
                texts.extend(challenges);
                texts.extend(error);
            }
            Self::NoAnswer { url, problem, .. } => texts.extend([url, problem]),
            Self::AuthScheme { realm, service, .. } => texts.extend(realm.iter_mut().chain(service)),
            Self::Refused { problem, .. } => texts.push(problem),
            Self::Redirected { from, to, .. } => texts.extend([from, to]),
            Self::Token { server, service, scopes, error, outcome, .. } => {
                texts.push(server);
                texts.extend(service.iter_mut().chain(scopes).chain(error));
                match outcome {
                    TokenOutcome::Token { granted, .. } => texts.extend(granted.iter_mut().flatten()),
                    TokenOutcome::Elsewhere { to } => texts.push(to),
                    TokenOutcome::None(reason) => texts.push(reason),
                }
            }
        }
        for text in texts {
            *text = map(text);
        }
        self
    }
}

/// A challenge as it came, without what was sent, user infos, line breaks and what does not fit.
pub(crate) fn shown_challenge(line: &str, scrubber: &SecretScrubber) -> String {
    let hidden = scrubber.hide(line);
    let mut shown = String::new();
    let mut rest = hidden.as_str();
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        let ends = |character: char| character.is_whitespace() || matches!(character, '/' | '?' | '#' | '"' | ',');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        shown.push_str(before);
        if let Some(at) = authority.rfind('@') {
            shown.push_str("[hidden]");
            rest = &after[at..];
        } else {
            rest = after;
        }
    }
    shown.push_str(rest);
    let mut shown = shown.replace(is_unprintable, " ");
    if shown.len() > LONGEST_CHALLENGE {
        shown.truncate(shown.floor_char_boundary(LONGEST_CHALLENGE - '…'.len_utf8()));
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, want: &str) {
        let scrubber = SecretScrubber::default();
        scrubber.secret("hunter2");
        assert_eq!(shown_challenge(line, &scrubber), want);
    }

    #[test]
    fn challenges_are_shown_raw_but_for_secrets() {
        check(
            r#"Bearer realm="https://a.test/t?x=1",service="s""#,
            r#"Bearer realm="https://a.test/t?x=1",service="s""#,
        );
        check(
            r#"Bearer realm="https://u:p@a.test/t",scope="a@b""#,
            r#"Bearer realm="https://[hidden]@a.test/t",scope="a@b""#,
        );
        check("Bearer realm=https://u@v:p@a.test", "Bearer realm=https://[hidden]@a.test");
        check("Basic realm=\"no such login: hunter2\"", "Basic realm=\"no such login: [hidden]\"");
        check("Basic\tx\u{1b}[2J", "Basic x [2J");
        let long = "ä".repeat(2000);
        check(&long, &format!("{}…", "ä".repeat(510)));
    }
}

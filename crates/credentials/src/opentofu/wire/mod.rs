//! Where `OpenTofu` would speak otherwise with a registry and its token server than this program does.

pub(super) mod challenge;

use tofu_oci_types::RepositoryRef;

use challenge::{Challenge, ChallengeScheme};

/// What was seen on the way to a repository: plain data, gathered by whoever spoke with the registry.
#[derive(Clone, Debug)]
pub struct WireFacts {
    /// The repository that was asked for.
    pub repository: RepositoryRef,
    /// The lines of `WWW-Authenticate` under the first 401 of a pull, as they came; none where the pull demands
    /// nothing.
    pub challenges: Vec<String>,
    /// Why the realm of the challenge was refused here, such as `realm-downgrade`.
    pub refused: Option<String>,
    /// What the bare `GET /v2/` gives, where it was asked.
    pub ping: Option<Ping>,
    /// Redirects that were met, by the registry or the token server, as URLs.
    pub redirects: Vec<Redirect>,
    /// What is known of the caller, sent or not; nothing where access is anonymous.
    pub held: Option<HeldCredential>,
}

/// The answer to `GET /v2/` without a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ping {
    pub status: u16,
    /// The lines of `WWW-Authenticate`.
    pub challenges: Vec<String>,
}

/// A redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub by: Redirector,
    /// The URL that was asked.
    pub from: String,
    /// The URL that was named.
    pub to: String,
}

/// Who redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirector {
    /// The registry, for a blob.
    Registry,
    TokenServer,
}

/// The kind of credential at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldCredential {
    /// A name and a password that stand in a file or a block.
    Password,
    /// A name and a password that a helper gave.
    PasswordFromHelper,
    /// An identity token of a file.
    IdentityToken,
    /// An identity token that a helper gave, under the name `<token>`.
    IdentityTokenFromHelper,
    /// A token that goes to the registry as it is.
    RegistryToken,
}

/// A difference, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which releases of `OpenTofu` differ, such as `1.10 to 1.12`.
    pub releases: &'static str,
    /// What it does: a sentence about "it" without a full stop. Holds no secret and no query of a URL.
    pub text: String,
    pub weight: Severity,
}

/// Whether a difference or a note is worth a line for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It changes what somebody gets, or may.
    Tells,
    /// It comes to the same, perhaps after one request more: only beside others.
    Aside,
}

const ALL: &str = "1.10 to 1.13";
const WITH_PING: &str = "1.10 to 1.12";
const FIRST: &str = "1.10";
const LATER: &str = "1.12 and 1.13";

/// Where `OpenTofu` would do otherwise, given what was seen.
///
/// Spec: measured on 1.10.10 (oras-go 2.5.0), 1.12.6 (2.6.1) and 1.13 (2.6.2).
pub fn wire_differences(facts: &WireFacts) -> Vec<Difference> {
    let mut differences = Vec::new();
    if let Some(text) = two_tokens(facts) {
        differences.push(Difference { releases: WITH_PING, text, weight: Severity::Aside });
    }
    let mut differ = |releases, text: String| differences.push(Difference { releases, text, weight: Severity::Tells });
    if let Some(ping) = &facts.ping {
        ping_differences(ping, facts, &mut differ);
    }
    challenge_differences(facts, &mut differ);
    realm_differences(facts, &mut differ);
    for redirect in &facts.redirects {
        redirect_differences(redirect, facts, &mut differ);
    }
    match facts.held {
        Some(HeldCredential::IdentityToken) => {
            differ(ALL, "it passes the identity token over: it reads `auth` alone".to_owned());
        }
        Some(HeldCredential::IdentityTokenFromHelper) => {
            differ(ALL, "it takes a helper's `<token>` for an error".to_owned());
        }
        _ => {}
    }
    differences
}

/// Up to 1.12 a token for `/v2/` comes before that for the repository.
fn two_tokens(facts: &WireFacts) -> Option<String> {
    let ping = facts.ping.as_ref().filter(|ping| ping.status == 401 && !facts.challenges.is_empty())?;
    challenge::first(&ping.challenges).filter(|challenge| challenge.scheme == ChallengeScheme::Bearer)?;
    let helper = match facts.held {
        Some(HeldCredential::PasswordFromHelper | HeldCredential::IdentityTokenFromHelper) => {
            " and asks the helper twice"
        }
        _ => "",
    };
    Some(format!("it fetches two tokens for each repository, one of them for /v2/{helper}"))
}

/// Whether a pull demands what `/v2/` demands, by the way that is taken.
fn same_way(ping: &Challenge, facts: &WireFacts) -> bool {
    challenge::first(&facts.challenges).is_some_and(|pull| pull.scheme == ping.scheme && pull.realm == ping.realm)
}

/// Up to 1.12 `GET /v2/` comes first, and what it gives decides.
fn ping_differences(ping: &Ping, facts: &WireFacts, differ: &mut impl FnMut(&'static str, String)) {
    let (status, open) = (ping.status, facts.challenges.is_empty());
    let first = challenge::first(&ping.challenges);
    let pull = if open { ", while a pull demands nothing" } else { "" };
    match status {
        200 => {}
        401 => match first.as_ref().map(|challenge| challenge.scheme) {
            Some(ChallengeScheme::Basic) if facts.held.is_none() => {
                differ(WITH_PING, format!("it asks for /v2/ first, which demands a password{pull}, and gives up"));
            }
            Some(ChallengeScheme::Basic | ChallengeScheme::Bearer) if open => {
                let then = match facts.held {
                    Some(_) => "sends the credential there",
                    None => "gives up where it gets no anonymous token for that",
                };
                differ(WITH_PING, format!("it asks for /v2/ first, which demands access{pull}, and {then}"));
            }
            Some(ChallengeScheme::Basic | ChallengeScheme::Bearer) => {
                if first.is_some_and(|first| !same_way(&first, facts)) {
                    differ(
                        WITH_PING,
                        "it asks for /v2/ first, whose challenge is another one than that of a pull, and gives up where \
                         it is not let in there"
                            .to_owned(),
                    );
                }
            }
            Some(ChallengeScheme::Other) | None => {
                differ(
                    WITH_PING,
                    "it asks for /v2/ first and gives up at its 401, which names no way to log in that it knows"
                        .to_owned(),
                );
            }
        },
        404 => differ(WITH_PING, "it asks for /v2/ first and takes its 404 for an unknown provider".to_owned()),
        _ => differ(WITH_PING, format!("it asks for /v2/ first and gives up at its status {status}")),
    }
}

/// Only the first challenge of the first line counts there; here the first that is known, of all lines.
fn challenge_differences(facts: &WireFacts, differ: &mut impl FnMut(&'static str, String)) {
    let Some(first) = challenge::first(&facts.challenges) else { return };
    if first.scheme == ChallengeScheme::Other {
        if facts.challenges.iter().any(|line| challenge::names_a_known_scheme(line)) {
            differ(
                ALL,
                "it looks at the first challenge alone, whose scheme it does not know, so that the 401 stands"
                    .to_owned(),
            );
        }
        return;
    }
    let Challenge { scheme: ChallengeScheme::Bearer, broken_realm, scopes, .. } = first else { return };
    if broken_realm {
        differ(ALL, "it reads a realm without quotes up to its first `:` and fails".to_owned());
    }
    let own = format!("repository:{}:pull", facts.repository.name());
    if scopes.iter().any(|scope| *scope != own) {
        differ(
            ALL,
            "it joins the scopes of the challenge to its own, sends each request bare first and repeats it with the token"
                .to_owned(),
        );
    }
}

fn realm_differences(facts: &WireFacts, differ: &mut impl FnMut(&'static str, String)) {
    // Behind a redirect of the token server it is not the realm that was refused.
    if facts.redirects.iter().any(|redirect| redirect.by == Redirector::TokenServer) {
        return;
    }
    let sent = match facts.held {
        None => "asks it for an anonymous token",
        Some(HeldCredential::RegistryToken) => "sends the access token to the registry all the same",
        Some(_) => "sends it the password",
    };
    match facts.refused.as_deref() {
        Some("realm-downgrade") => {
            differ(FIRST, format!("it follows the challenge to the http:// token server and {sent}"));
        }
        Some("realm-private-address") => {
            let realm = challenge::first(&facts.challenges).and_then(|challenge| challenge.realm);
            let host = realm.and_then(|realm| challenge::origin(&realm)).map(|origin| origin.host);
            // The later releases look at literals alone: not at `localhost`, nor at addresses shared by carriers.
            let releases = if host.is_none_or(|host| challenge::is_private_literal(&host)) { FIRST } else { ALL };
            differ(releases, format!("it follows the challenge to the token server at a private address and {sent}"));
        }
        Some("token-redirect") if facts.held.is_some() => {
            differ(
                FIRST,
                "it follows the token server's redirect, with the password where the host stays the same".to_owned(),
            );
            let text =
                "it follows the token server's redirect without the credential and uses the anonymous token silently";
            differ(LATER, text.to_owned());
        }
        Some("realm-other-site") => differ(ALL, format!("it takes the token server of another site and {sent}")),
        Some("realm-user-info") => {
            let whose = if facts.held.is_some() { "with the credential" } else { "with the user information" };
            differ(ALL, format!("it takes a realm with user information and logs in there {whose}"));
        }
        _ => {}
    }
}

fn redirect_differences(redirect: &Redirect, facts: &WireFacts, differ: &mut impl FnMut(&'static str, String)) {
    let (Some(from), Some(to)) = (challenge::origin(&redirect.from), challenge::origin(&redirect.to)) else { return };
    if from == to {
        return;
    }
    let same_host = from.host == to.host;
    let Some(held) = facts.held else {
        if redirect.by == Redirector::TokenServer && facts.refused.is_some() && facts.redirects.last() == Some(redirect)
        {
            differ(ALL, format!("it follows the token server's redirect to {to}"));
        }
        return;
    };
    match redirect.by {
        Redirector::TokenServer if held == HeldCredential::RegistryToken => {}
        Redirector::TokenServer => {
            let anonymous = format!(
                "it follows the token server's redirect to {to} without the credential and uses the anonymous token silently"
            );
            if same_host {
                differ(FIRST, format!("it follows the token server's redirect to {to} and sends the password there"));
                differ(LATER, anonymous);
            } else {
                differ(ALL, anonymous);
            }
        }
        Redirector::Registry if same_host => {
            differ(FIRST, format!("it follows the registry's redirect to {to} and sends the credential there"));
        }
        Redirector::Registry => {}
    }
}

#[cfg(test)]
mod tests;

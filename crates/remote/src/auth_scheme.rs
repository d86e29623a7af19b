//! Which of a registry's challenges is answered, and how. Pure.

use tofu_oci_http::{RedirectFault, named_address};
use tofu_oci_store::AccessFault;
use url::Url;

use crate::challenge::AuthChallenge;
use crate::hosts::UserHosts;
use crate::realm::{RealmRefusal, check_realm};

/// How a registry wants to authenticate the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AuthScheme {
    /// With a name and a password in every request.
    Basic,
    /// With a token that this server gives.
    Bearer { realm: Url, service: Option<String> },
}

/// The challenge that is answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChosenChallenge<'a> {
    pub(crate) scheme: AuthScheme,
    /// The scopes that the registry names.
    pub(crate) scope: Option<&'a str>,
}

/// Whether the challenge answers a request that showed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChallengeStage {
    /// It showed nothing.
    First,
    /// What it showed is refused; some registries then name the reason alone, and no token server.
    Again,
}

/// The first challenge of a known scheme, over all lines in their order; `None` if there is no such challenge. Later
/// challenges are ignored: a registry whose token server may not be asked gets no password instead.
///
/// # Errors
/// Why the token server that it names may not be asked.
pub(crate) fn choose<'a>(
    challenges: &'a [AuthChallenge],
    root: &Url,
    asked: ChallengeStage,
    named: &UserHosts,
) -> Result<Option<ChosenChallenge<'a>>, RealmRefusal> {
    let known = |challenge: &&AuthChallenge| matches!(challenge.scheme.as_str(), "basic" | "bearer");
    let Some(challenge) = challenges.iter().find(known) else { return Ok(None) };
    let scope = challenge.parameter("scope");
    if challenge.scheme == "basic" {
        return Ok(Some(ChosenChallenge { scheme: AuthScheme::Basic, scope }));
    }
    let refused = |problem: &str| RealmRefusal::new(AccessFault::RealmScheme, problem);
    let realm = match (challenge.parameter("realm").filter(|realm| !realm.is_empty()), asked) {
        (Some(realm), _) => realm,
        (None, ChallengeStage::Again) => return Ok(None),
        (None, ChallengeStage::First) => {
            return Err(refused("the registry asks for a token and names no token server"));
        }
    };
    let realm = named_address(None, realm).map_err(|fault| match fault {
        RedirectFault::TooLong => refused("the registry names a token server by an address that is too long"),
        _ => refused("the registry names a token server whose address is not a whole one"),
    })?;
    check_realm(&realm, root, named)?;
    let service = challenge.parameter("service").map(str::to_owned);
    Ok(Some(ChosenChallenge { scheme: AuthScheme::Bearer { realm, service }, scope }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::parse;

    #[track_caller]
    fn check(lines: &[&str], want: &str) {
        let root = Url::parse("https://registry.test:5000/").unwrap();
        let challenges = parse(lines.iter().copied());
        let got = match choose(&challenges, &root, ChallengeStage::First, &UserHosts::default()) {
            Ok(None) => "nothing".to_owned(),
            Ok(Some(ChosenChallenge { scheme: AuthScheme::Basic, .. })) => "basic".to_owned(),
            Ok(Some(ChosenChallenge { scheme: AuthScheme::Bearer { realm, service }, scope })) => {
                let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
                format!("{realm} {} {}", text(service.as_deref()), text(scope))
            }
            Err(refusal) => refusal.fault.with_status(),
        };
        assert_eq!(got, want, "{lines:?}");
    }

    const BEARER: &str = r#"Bearer realm="https://auth.test/token",service="svc""#;
    const BASIC: &str = r#"Basic realm="x""#;

    #[test]
    fn the_first_challenge_of_a_known_scheme_counts_whatever_line_it_is_in() {
        check(&[BASIC], "basic");
        check(&["basic"], "basic");
        check(&["BASIC"], "basic");
        check(&[BEARER], "https://auth.test/token svc -");
        check(&[BEARER, BASIC], "https://auth.test/token svc -");
        check(&[BASIC, BEARER], "basic");
        check(&["Negotiate", BASIC], "basic");
        check(&["Negotiate", "Digest realm=\"d\", nonce=\"n\"", BEARER, BASIC], "https://auth.test/token svc -");
        check(&["", BEARER], "https://auth.test/token svc -");
        check(&[r#"Basic realm="x", Bearer realm="https://auth.test/token""#], "basic");
        check(&[r#"Bearer realm="https://auth.test/token", Basic realm="x""#], "https://auth.test/token - -");
        check(&["Negotiate"], "nothing");
        check(&[r#"Hoba max-age="1""#, "NTLM"], "nothing");
        check(&[], "nothing");
    }

    #[test]
    fn a_refused_realm_is_not_replaced_by_a_password() {
        check(&[r#"Bearer realm="http://auth.test/token""#, BASIC], "realm-downgrade");
        check(&[r#"Bearer realm="https://10.1.2.3/token", Basic realm="x""#], "realm-private-address");
        check(&[r#"Bearer service="svc""#, BASIC], "realm-scheme");
        check(&[r#"Bearer realm="""#], "realm-scheme");
    }

    #[test]
    fn a_refused_token_needs_no_realm_to_stay_refused() {
        let root = Url::parse("https://registry.test/").unwrap();
        let challenges = parse([r#"Bearer error="insufficient_scope""#]);
        assert_eq!(choose(&challenges, &root, ChallengeStage::Again, &UserHosts::default()), Ok(None));
        assert!(choose(&challenges, &root, ChallengeStage::First, &UserHosts::default()).is_err());
    }

    #[test]
    fn realms_are_whole_addresses() {
        check(&["Bearer realm=https://auth.test:5001/token,service=svc"], "https://auth.test:5001/token svc -");
        check(&[r#"Bearer realm="/token""#], "realm-scheme");
        check(&[r#"Bearer realm="//auth.test/token""#], "realm-scheme");
        check(&[r#"Bearer realm="auth.test:5001/token""#], "realm-scheme");
        check(&[r#"Bearer realm="token""#], "realm-scheme");
        check(&[r#"Bearer realm="ftp://auth.test/""#], "realm-scheme");
        check(&[r#"Bearer realm="https://user:word@auth.test/token""#], "realm-user-info");
        check(&[r#"Bearer realm="https://localhost/token""#], "realm-private-address");
        check(&[r#"Bearer realm="https://registry.test:5000/token?own=1&scope=old""#], {
            "https://registry.test:5000/token?own=1&scope=old - -"
        });
    }

    #[test]
    fn scopes_are_those_of_the_chosen_challenge() {
        check(
            &[r#"Bearer realm="https://auth.test/t",scope="repository:x:pull registry:catalog:*""#],
            "https://auth.test/t - repository:x:pull registry:catalog:*",
        );
        check(&[r#"Bearer realm="https://auth.test/t", Negotiate scope="a:b:c""#], "https://auth.test/t - -");
    }
}

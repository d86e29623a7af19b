//! The pure readers of what comes from outside, for the fuzz targets.

use std::time::Duration;

use tofu_oci_http::{HeldUrl, SecretScrubber, same_origin};
use url::Url;

use crate::auth_scheme::{AuthScheme, ChallengeStage, ChosenChallenge, choose};
use crate::challenge::parse;
use crate::exchange::shown_challenge;
use crate::hosts::UserHosts;
use crate::link::Pages;
use crate::realm::check_realm;
use crate::scope::RequestedAccess;
use crate::token_answer::TokenAnswer;

/// Reads the lines of a `WWW-Authenticate`, chooses among them, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn challenge(lines: &[&str], secret: &str) {
    let scrubber = SecretScrubber::default();
    scrubber.secret(secret);
    for line in lines {
        let shown = shown_challenge(line, &scrubber);
        assert!(shown.len() <= 1024 && !shown.contains(|character: char| character.is_control()), "{shown:?}");
    }
    let challenges = parse(lines.iter().copied());
    for challenge in &challenges {
        assert!(!challenge.scheme.is_empty() && !challenge.scheme.contains(char::is_whitespace), "{challenge:?}");
        assert_eq!(challenge.scheme, challenge.scheme.to_ascii_lowercase());
    }
    let roots = ["https://registry.test:5000/", "http://registry.test/", "https://127.0.0.1:5000/"];
    for root in roots.iter().map(|root| Url::parse(root).expect("a fixed address")) {
        for asked in [ChallengeStage::First, ChallengeStage::Again] {
            let Ok(Some(ChosenChallenge { scheme, scope })) = choose(&challenges, &root, asked, &UserHosts::default())
            else {
                continue;
            };
            if let AuthScheme::Bearer { realm, .. } = scheme {
                assert_eq!(check_realm(&realm, &root, &UserHosts::default()), Ok(()));
                assert!(realm.username().is_empty() && realm.password().is_none() && realm.host().is_some());
                assert!(realm.scheme() == "https" || root.scheme() == "http", "{realm}");
            }
            let repository = "registry.test/a/b".parse().expect("a fixed repository");
            let own = RequestedAccess::pull(&repository).scopes;
            let asked = own.clone().and_challenged(scope.unwrap_or_default());
            assert!(asked == own || asked.to_string().len() <= 2048, "{asked}");
            assert_eq!(asked.clone().and_challenged(&own.to_string()), asked, "one's own scope is in it");
        }
    }
}

/// Reads the `Link` headers of a page of a list, the first line its address, and checks what has to hold for the next page.
///
/// # Panics
/// If it does not hold.
pub fn link_header(text: &str) {
    let mut lines = text.split('\n');
    let Ok(current) = lines.next().unwrap_or_default().parse::<Url>() else { return };
    if !matches!(current.scheme(), "http" | "https") {
        return;
    }
    let headers: Vec<&str> = lines.collect();
    let mut pages = Pages::new(current.clone(), Duration::from_hours(1));
    let current = HeldUrl::anywhere(current);
    match pages.next(&current, headers.iter().copied()) {
        Ok(Some(next)) => {
            assert!(same_origin(&next.url, &current.url) && next != current, "{}", next.url);
            assert!(pages.next(&current, headers).is_err(), "{} is read twice", next.url);
        }
        Ok(None) => {}
        Err(problem) => assert!(!problem.contains(char::is_control), "{problem:?}"),
    }
}

/// Reads a token server's answer, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn token_answer(bytes: &[u8]) {
    let Ok(answer) = TokenAnswer::parse(bytes) else { return };
    assert!(!answer.token.is_empty());
    assert!(answer.refresh.as_ref().is_none_or(|refresh| !refresh.is_empty()));
    assert!(!answer.life.is_zero() || answer.seconds == Some(0), "{:?}", answer.life);
    assert!(answer.life.as_secs() <= 24 * 60 * 60 && answer.seconds.is_none_or(|seconds| seconds <= 24 * 60 * 60));
    let granted = answer.granted().unwrap_or_default();
    assert!(granted.len() <= 64 && granted.iter().all(|scope| !scope.contains(|c: char| c.is_control())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_targets_check_holds() {
        challenge(&["Basic", r#"Bearer realm="https://a.test/t",scope="repository:a/b:push a:b c::""#], "hunter2");
        challenge(&["", "\u{7f}=\u{1b}\"", "Bearer realm=http://10.0.0.1"], "");
        link_header(
            "https://registry.test/v2/a/tags/list\n</v2/a/tags/list?last=b>; rel=next\n<https://other.test/>; rel=next",
        );
        token_answer(br#"{"token":"t","expires_in":1e-300}"#);
        token_answer(b"\xff");
    }
}

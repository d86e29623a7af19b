//! Secrets that were sent, so that no output repeats them after a server does.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use tofu_oci_types::Secret;

use crate::encodings::{SoughtSecret, places};
use crate::recent::RecentMap;

/// Shorter secrets occur in ordinary words: the text around a hidden one would reveal it.
const SHORTEST: usize = 4;

/// How many secrets are known at most. Each request notes what it sends, so that a forgotten secret is one that this many
/// others were sent after: an expired token.
const MOST: usize = 512;

/// What a secret is replaced with.
const HIDDEN: &str = "[hidden]";

/// The secrets that this process has sent most recently.
pub struct SecretScrubber(Mutex<RecentMap<SentSecret, SoughtSecret>>);

/// A secret, compared by its text.
#[derive(Clone)]
struct SentSecret(Secret);

impl Default for SecretScrubber {
    fn default() -> Self {
        Self(Mutex::new(RecentMap::new(MOST)))
    }
}

impl SecretScrubber {
    /// Remembers the secrets of an `Authorization`: the token, or the encoded login and the password in it.
    pub fn header(&self, value: &HeaderValue) {
        let Some((scheme, secret)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return };
        self.token(secret);
        if scheme == "Basic"
            && let Some(password) = password(secret)
        {
            self.secret(password.expose());
        }
    }

    /// Remembers a token that a server made. A short one protects nothing, and would hide every text.
    pub fn token(&self, token: &str) {
        if token.len() >= SHORTEST {
            self.secret(token);
        }
    }

    /// Remembers a secret.
    pub fn secret(&self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(secret).is_none() {
            known.get_or_insert(&SentSecret(Secret::new(secret)), || SoughtSecret::new(secret));
        }
    }

    /// The text without any of them, however they are encoded. A text with a short one in it is not repeated at all.
    pub fn hide(&self, text: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let short = known.iter().filter(|(secret, _)| secret.0.expose().len() < SHORTEST).map(|(_, sought)| sought);
        let long = known.iter().filter(|(secret, _)| secret.0.expose().len() >= SHORTEST).map(|(_, sought)| sought);
        if !places(text, &short).is_empty() {
            return HIDDEN.to_owned();
        }
        let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
        for place in places(text, &long) {
            shown.push_str(text.get(from..place.start).unwrap_or_default());
            shown.push_str(HIDDEN);
            from = place.end;
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        shown
    }
}

impl Borrow<str> for SentSecret {
    fn borrow(&self) -> &str {
        self.0.expose()
    }
}

impl PartialEq for SentSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose() == other.0.expose()
    }
}

impl Eq for SentSecret {}

impl Hash for SentSecret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.expose().hash(state);
    }
}

fn password(encoded: &str) -> Option<Secret> {
    let login = Secret::new(String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?);
    login.expose().split_once(':').map(|(_, password)| Secret::new(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let scrubber = SecretScrubber::default();
        let encoded = STANDARD.encode("ada:correct-horse");
        scrubber.header(&HeaderValue::from_str(&format!("Basic {encoded}")).unwrap());
        scrubber.header(&HeaderValue::from_static("Bearer to-ken"));
        scrubber.secret("xyz");
        scrubber.secret("correct hörse");
        assert_eq!(scrubber.hide(&text.replace("ENCODED", &encoded)), want);
    }

    #[test]
    fn a_secret_that_was_sent_is_not_repeated() {
        check("no such user: ada", "no such user: ada");
        check("got Basic ENCODED", "got Basic [hidden]");
        check("wrong password correct-horse for ada", "wrong password [hidden] for ada");
        check("token to-ken is old", "token [hidden] is old");
        check("xy", "xy");
        check("your xyz is short", "[hidden]");
        check("x%79z", "[hidden]");
        check("/u/correct%20h%C3%B6rse, correct+h%C3%B6rse", "/u/[hidden], [hidden]");
    }
    #[test]
    fn every_token_that_was_ever_sent_was_kept_and_sought() {
        let scrubber = SecretScrubber::default();
        scrubber.secret("correct-horse");
        for nth in 0..3 * MOST {
            scrubber.header(&HeaderValue::from_str(&format!("Bearer token-{nth:06}")).unwrap());
            // A password is noted whenever it is sent.
            scrubber.secret("correct-horse");
        }
        assert_eq!(scrubber.0.lock().unwrap().iter().count(), MOST);
        assert_eq!(scrubber.hide("token-000000 correct-horse"), "token-000000 [hidden]");
        assert_eq!(scrubber.hide(&format!("token-{:06}", 3 * MOST - 2)), "[hidden]");
    }
}

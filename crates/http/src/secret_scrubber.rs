//! Secrets that were sent, so that no output repeats them after a server does.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use tofu_oci_types::Secret;

use crate::encodings::{SoughtSecret, places};

/// Shorter secrets occur in ordinary words: the text around a hidden one would reveal it.
const SHORTEST: usize = 4;

/// What a secret is replaced with.
const HIDDEN: &str = "[hidden]";

/// Every secret that this run has sent, by length.
#[derive(Default)]
pub struct SecretScrubber(Mutex<BTreeMap<usize, Vec<SentSecret>>>);

/// A secret, and how it is sought in answers.
struct SentSecret {
    secret: Secret,
    sought: SoughtSecret,
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
        let of_length = known.entry(secret.len()).or_default();
        if !of_length.iter().any(|known| known.secret.expose() == secret) {
            of_length.push(SentSecret { secret: Secret::new(secret), sought: SoughtSecret::new(secret) });
        }
    }

    /// The text without any of them, however they are encoded. A text with a short one in it is not repeated at all.
    pub fn hide(&self, text: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_length = |lengths| known.range(lengths).flat_map(|(_, secrets)| secrets).map(|one| &one.sought);
        if !places(text, &of_length((Bound::Unbounded, Bound::Excluded(SHORTEST)))).is_empty() {
            return HIDDEN.to_owned();
        }
        let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
        for place in places(text, &of_length((Bound::Included(SHORTEST), Bound::Unbounded))) {
            shown.push_str(text.get(from..place.start).unwrap_or_default());
            shown.push_str(HIDDEN);
            from = place.end;
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        shown
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
}

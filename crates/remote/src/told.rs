//! Secrets that were sent, so that a registry which repeats them is not quoted.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use tofu_oci_credentials::Secret;
use tofu_oci_store::StoreError;
use url::Url;
use url::form_urlencoded::byte_serialize;

/// Shorter texts are no secrets worth the name, and would be found in ordinary words.
const SHORTEST: usize = 4;

/// What stands in for a secret.
const HIDDEN: &str = "[hidden]";

/// Every secret that has left in this run.
#[derive(Default)]
pub(crate) struct Told(Mutex<BTreeMap<usize, Vec<Secret>>>);

impl Told {
    /// Remembers the secrets of an `Authorization`: the token, or the encoded login and the password in it.
    pub(crate) fn header(&self, value: &HeaderValue) {
        let Some((scheme, secret)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return };
        self.secret(secret);
        if scheme == "Basic"
            && let Some(password) = password(secret)
        {
            self.secret(password.expose());
        }
    }

    /// Remembers a secret, and the forms in which addresses and forms carry it.
    pub(crate) fn secret(&self, secret: &str) {
        self.one(secret);
        let in_form = Secret::new(byte_serialize(secret.as_bytes()).collect::<String>());
        self.one(in_form.expose());
        if let Ok(mut address) = Url::parse("http://host/") {
            address.set_path(secret);
            self.one(address.path().trim_start_matches('/'));
        }
    }

    fn one(&self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_length = known.entry(secret.len()).or_default();
        if !of_length.iter().any(|known| known.expose() == secret) {
            of_length.push(Secret::new(secret));
        }
    }

    /// The error without any of them.
    pub(crate) fn hide_in(&self, error: StoreError) -> StoreError {
        error.map_foreign_text(&|text| self.hide(text))
    }

    /// The text without any of them.
    pub(crate) fn hide(&self, text: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Longest first: one secret may be a part of another.
        let secrets = known.values().rev().flatten();
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.expose(), HIDDEN))
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
        let told = Told::default();
        let encoded = STANDARD.encode("ada:correct-horse");
        told.header(&HeaderValue::from_str(&format!("Basic {encoded}")).unwrap());
        told.header(&HeaderValue::from_static("Bearer to-ken"));
        told.secret("abc");
        told.secret("correct hörse");
        assert_eq!(told.hide(&text.replace("ENCODED", &encoded)), want);
    }

    #[test]
    fn what_was_told_is_not_repeated() {
        check("no such user: ada", "no such user: ada");
        check("got Basic ENCODED", "got Basic [hidden]");
        check("wrong password correct-horse for ada", "wrong password [hidden] for ada");
        check("token to-ken is old", "token [hidden] is old");
        check("abc", "abc");
        check("/u/correct%20h%C3%B6rse, correct+h%C3%B6rse", "/u/[hidden], [hidden]");
    }
}

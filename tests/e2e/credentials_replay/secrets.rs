//! Every secret of a case, and whether something that was said holds one.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use serde_json::Value;
use tofu_oci_testkit::{Arrival, ShownLogin};

use super::case::Case;

/// Shorter secrets count only as whole words: `pass` inside `password` does not count.
const SHORT: usize = 10;

/// Everything that must not be said.
#[derive(Debug, Default)]
pub(super) struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Those that the user has, in files, blocks, variables and helpers.
    pub(super) fn of(case: &Case) -> Self {
        let mut secrets = Self::default();
        for (path, content) in &case.files {
            let text = content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned);
            secrets.encoded(&text.replace("\\r", "").replace("\\n", "").replace(['\r', '\n'], ""));
            secrets.members(&serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default());
            if Path::new(path).file_name().is_some_and(|name| name == ".netrc") {
                secrets.0.extend(text.split("password ").nth(1).map(|secret| secret.trim().to_owned()));
            }
        }
        for helper in case.helpers.values() {
            secrets.members(helper.get.as_ref().unwrap_or(&Value::Null));
            secrets
                .members(&helper.stdout.as_ref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default());
        }
        secrets.members(case.cli_json.as_ref().unwrap_or(&Value::Null));
        for line in case.cli_config.lines() {
            if let Some((name, value)) = line.split_once('=')
                && is_secret(name.trim())
            {
                secrets.0.insert(value.trim().trim_matches('"').to_owned());
            }
        }
        let tokens = case.env.iter().filter(|(name, _)| name.starts_with("TF_TOKEN_"));
        secrets.0.extend(tokens.filter_map(|(_, value)| value.clone()));
        for text in case.registry.texts() {
            let user_info =
                text.split_once("://").and_then(|(_, rest)| rest.split(['/', '"']).next()?.rsplit_once('@'));
            secrets
                .0
                .extend(user_info.and_then(|(login, _)| login.split_once(':')).map(|(_, secret)| secret.to_owned()));
        }
        // A text that the user can read anyway is not a secret.
        let open = format!("{} {}", case.repository, case.name);
        secrets.0.retain(|secret| secret.chars().any(char::is_alphanumeric) && !has(&open, secret));
        secrets
    }

    /// Those that went over the wire.
    pub(super) fn sent(&mut self, arrivals: &[Arrival], issued: &[String]) {
        self.0.extend(issued.iter().cloned());
        for arrival in arrivals {
            match &arrival.shown {
                // A name without a password is not a secret.
                ShownLogin::Basic(login) if login.ends_with(':') => {}
                ShownLogin::Basic(login) => self.0.extend([login.clone(), STANDARD.encode(login)]),
                ShownLogin::Bearer(token) | ShownLogin::Refresh(token) | ShownLogin::Other(token) => {
                    self.0.insert(token.clone());
                }
                ShownLogin::Nothing => {}
            }
        }
    }

    /// Runs of letters that are base64 of `user:password` in any alphabet.
    fn encoded(&mut self, text: &str) {
        let runs = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"+/=-_".contains(letter));
        for run in runs.filter(|run| run.len() >= 4) {
            let decoded = [STANDARD.decode(run), STANDARD_NO_PAD.decode(run), URL_SAFE.decode(run)];
            for bytes in decoded.into_iter().flatten() {
                let login = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((_, password)) = login.split_once(':').filter(|(_, password)| !password.is_empty()) {
                    self.0.extend([run.to_owned(), password.to_owned(), login.clone()]);
                }
            }
        }
    }

    /// Members that hold secrets, at any depth.
    fn members(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    match value.as_str() {
                        Some(text) if is_secret(name) => drop(self.0.insert(text.to_owned())),
                        _ => self.members(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.members(item)),
            _ => {}
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first one that a text holds.
    pub(super) fn find(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|secret| has(text, secret))
    }
}

fn is_secret(name: &str) -> bool {
    let names =
        ["auth", "password", "secret", "identitytoken", "registrytoken", "access_token", "refresh_token", "token"];
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn has(text: &str, secret: &str) -> bool {
    let inside = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(secret).any(|(at, _)| {
        let alone = !inside(text[..at].chars().next_back()) && !inside(text[at + secret.len()..].chars().next());
        secret.len() >= SHORT || alone
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(secrets: &Secrets, said: &str, tells: bool) {
        assert_eq!(secrets.find(said).is_some(), tells, "{said}");
    }

    #[test]
    fn every_form_of_a_secret_is_found() {
        let mut secrets = Secrets::of(&Case::read(&json!({
            "name": "x", "group": "x", "repository": "registry.example.test/a/b", "expect": {},
            "files": {"f": {"auths": {"h": {"auth": STANDARD.encode("user:pass")}}, "x": {"identitytoken": "idt"}}},
            "helpers": {"h": {"get": {"Username": "u", "Secret": "of-the-helper"}}},
            "cli_config": "oci_credentials \"h\" {\n  password = \"in-a-block\"\n}",
            "env": {"TF_TOKEN_h": "in-a-variable"},
            "registry": {"challenge": "bearer", "realm": "https://ru:in-a-realm@auth.example.test/token"},
        })));
        for secret in ["dXNlcjpwYXNz", "user:pass", "idt", "of-the-helper", "in-a-block", "in-a-variable", "in-a-realm"]
        {
            check(&secrets, &format!("it is `{secret}`, they say"), true);
        }
        check(&secrets, "wrong pass for user", true);
        check(&secrets, "the password is passed over", false);
        secrets.sent(&[], &["given-out".to_owned()]);
        check(&secrets, "Bearer given-out", true);
    }
}

//! Foreign text made fit for people: short, on one line, without anything that could be a secret. Pure.

use std::error::Error;

/// Most characters of a registry's own words that are repeated.
const LONGEST: usize = 300;

/// What stands in place of a secret.
const MASK: &str = "***";

/// Names of what must not be repeated, as they stand before `=` or `:` or, as a scheme, before a blank.
const SECRET_NAMES: [&str; 8] =
    ["authorization", "bearer", "basic", "token", "access_token", "refresh_token", "password", "secret"];

/// The text on one line, shortened, with queries and user infos cut out of the addresses in it, and without what looks
/// like a token or follows the name of one: some registries repeat the header that they did not like.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::new();
    let mut after_name = false;
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let name = is_secret_name(word);
        if after_name && !name && word.len() >= SHORTEST_SECRET {
            out.push_str(MASK);
        } else {
            out.push_str(&without_token(&without_secrets(word)));
        }
        after_name = name;
        if out.chars().count() > LONGEST {
            return out.chars().take(LONGEST).chain("…".chars()).collect();
        }
    }
    out
}

/// Whether the word says that the next one is a secret: `Bearer`, `Authorization:`, `"basic`.
fn is_secret_name(word: &str) -> bool {
    let bare = word.rsplit([':', '=', '"', '\'', '(']).find(|part| !part.is_empty()).unwrap_or_default();
    let scheme = ["bearer", "basic"].iter().any(|scheme| bare.eq_ignore_ascii_case(scheme));
    scheme || word.ends_with([':', '=']) && SECRET_NAMES.iter().any(|name| bare.eq_ignore_ascii_case(name))
}

/// The word without the value that a secret's name in it has, and without anything that begins as a JSON web token does.
fn without_token(word: &str) -> String {
    let named = word.find([':', '=']).filter(|at| {
        let name = word[..*at].trim_matches(|character: char| !character.is_ascii_alphanumeric());
        *at + 1 < word.len() && SECRET_NAMES.iter().any(|secret| name.eq_ignore_ascii_case(secret))
    });
    match named.map(|at| at + 1).or_else(|| word.find("eyJ").filter(|at| word.len() - at >= 20)) {
        Some(at) => format!("{}{MASK}", &word[..at]),
        None => word.to_owned(),
    }
}

/// A word as short as this is no secret but a part of a sentence, as in `basic auth is off`.
const SHORTEST_SECRET: usize = 8;

/// The text with each of these secrets masked. Ones of less than four bytes stay: they are in every text.
pub(crate) fn mask(text: &str, secrets: &[String]) -> String {
    let secrets = secrets.iter().filter(|secret| secret.len() >= 4);
    secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
}

fn without_secrets(word: &str) -> String {
    let Some(scheme) = word.find("://") else {
        return word.split_once('?').filter(|(path, _)| path.contains('/')).map_or(word, |(path, _)| path).to_owned();
    };
    let (before, after) = word.split_at(scheme + 3);
    let address = after.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{before}{host}{path}")
}

/// What the network said: the innermost cause, which names no address.
pub(crate) fn network_problem(error: reqwest::Error) -> String {
    let error = error.without_url();
    let timeout = error.is_timeout();
    let mut innermost: &dyn Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = clean(&innermost.to_string());
    if timeout && !text.contains("time") { format!("timed out: {text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(clean(text), want);
    }

    #[test]
    fn secrets_of_addresses_are_cut_out() {
        check("no such blob", "no such blob");
        check("a\n\tb\u{1b}[31m", "a b [31m");
        check("see https://user:pass@s3.test/b/o?X-Amz-Signature=abc&Expires=1 now", "see https://s3.test/b/o now");
        check("https://a@b@c.test", "https://c.test");
        check("GET \"/v2/x?token=abc\"", "GET \"/v2/x");
        check("why? because", "why? because");
    }

    #[test]
    fn what_is_named_or_looks_like_a_secret_is_masked() {
        check("cannot read Authorization: Bearer c2VjcmV0LXRva2Vu here", "cannot read Authorization: Bearer *** here");
        check("header \"Basic dXNlcjpzZWNyZXQ=\" refused", "header \"Basic *** refused");
        check("token=abc password:\"x\" refresh_token= abcdefgh", "token=*** password:*** refresh_token= ***");
        check("bad jwt 'eyJhbGciOiJIUzI1NiJ9.e30.x' given", "bad jwt '*** given");
        check("basic auth is off, a bearer token is expected", "basic auth is off, a bearer token is expected");
        check("unknown blob sha256:eyJ", "unknown blob sha256:eyJ");
    }

    #[test]
    fn known_secrets_are_masked_wherever_they_stand() {
        assert_eq!(
            mask("got dXNlcg== for hunter2!", &["dXNlcg==".to_owned(), "hunter2".to_owned()]),
            "got *** for ***!"
        );
        assert_eq!(mask("abc", &["a".to_owned(), String::new()]), "abc");
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(clean(&"x".repeat(10_000)).chars().count(), LONGEST + 1);
        assert_eq!(clean(&"x ".repeat(10_000)).chars().count(), LONGEST + 1);
    }
}

//! Foreign text and addresses as people read them: short, on one line, without anything that may be a secret. Pure.

use tofu_oci_types::{is_unprintable, without_link};
use url::Url;

/// Most characters of a server's own words that are repeated.
const LONGEST: usize = 300;

/// The text on one line, shortened, with queries and user infos cut out of the addresses in it.
pub fn clean(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|character: char| character.is_whitespace() || is_unprintable(character)) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&without_secrets(word));
        if out.chars().count() > LONGEST {
            return out.chars().take(LONGEST).chain("…".chars()).collect();
        }
    }
    out
}

fn without_secrets(word: &str) -> String {
    let Some(scheme) = word.find("://") else {
        let path = word.split_once('?').filter(|(path, _)| path.contains('/')).map_or(word, |(path, _)| path);
        return without_link(path);
    };
    let (before, after) = word.split_at(scheme + 3);
    let address = after.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{before}{host}{}", without_link(path))
}

/// An address without query, fragment, user info and the signature of a link.
pub fn shown_url(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host_of(url), without_link(url.path()))
}

/// Host and port of an address.
pub fn host_of(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => "no host".to_owned(),
    }
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
        check("https://b.test/mirror/~17~ci~SIGNED/zap.zip", "https://b.test/mirror/zap.zip");
        check("/mirror/~17~ci~SIGNED/zap.zip ~/x ~a~b", "/mirror/zap.zip ~/x ~a~b");
        let link = Url::parse("https://b.test/~17~ci~SIGNED/zap.zip").unwrap();
        assert_eq!(shown_url(&link), "https://b.test/zap.zip");
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(clean(&"x".repeat(10_000)).chars().count(), LONGEST + 1);
        assert_eq!(clean(&"x ".repeat(10_000)).chars().count(), LONGEST + 1);
    }
}

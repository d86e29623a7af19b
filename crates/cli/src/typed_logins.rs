//! Passwords and query values that the user typed in an address, or set in a variable: no message repeats them, whoever
//! quotes the argument.

use std::borrow::Cow;
use std::sync::OnceLock;

use tofu_oci_types::{masked, printable};

/// What begins the names of this program's variables.
const OWN_VARIABLES: &str = "TOFU_OCI_";

/// A piece of an address, and what is shown in its place.
type TypedSecret = (String, String);

/// The text with `***` in the place of user information and of values of a query that were typed.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    static TYPED: OnceLock<Vec<TypedSecret>> = OnceLock::new();
    let typed = TYPED.get_or_init(|| {
        let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(OWN_VARIABLES));
        let words = std::env::args_os().skip(1).chain(own.map(|(_, value)| value));
        words.flat_map(|word| secrets(&word.to_string_lossy())).collect()
    });
    without(text, typed)
}

fn without<'a>(text: &'a str, secrets: &[TypedSecret]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for (secret, shown) in secrets {
        if text.contains(secret.as_str()) {
            text = Cow::Owned(text.replace(secret.as_str(), shown));
        }
    }
    text
}

fn secrets(word: &str) -> Vec<TypedSecret> {
    let logins = logins(word).into_iter().map(|login| (login, "***@".to_owned()));
    let queries = queries(word).into_iter();
    let queries = queries.flat_map(|(query, shown)| in_each_form(query).map(move |form| (form, shown.clone())));
    // A password may have a `?` in it.
    longest_first(logins.collect()).into_iter().chain(longest_first(queries.collect())).collect()
}

/// One may be a part of another.
fn longest_first(mut secrets: Vec<TypedSecret>) -> Vec<TypedSecret> {
    secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
    secrets.dedup();
    secrets
}

/// How the text is written in messages and in JSON.
fn in_each_form(text: String) -> [String; 3] {
    let json = serde_json::Value::from(text.as_str()).to_string();
    [printable(&text).into_owned(), json.trim_matches('"').to_owned(), text]
}

/// The arguments of a query in a word that may be secret, each with its `?` or `&`. What has no `=` may be a pattern, except in
/// a URL.
fn queries(word: &str) -> Vec<TypedSecret> {
    let query = word.split_once('?').map_or("", |(_, query)| query);
    let arguments = query.split('&').enumerate().map(|(position, argument)| {
        let (mark, shown) = (if position == 0 { '?' } else { '&' }, masked(&format!("?{argument}")));
        (format!("{mark}{argument}"), format!("{mark}{}", shown.trim_start_matches('?')))
    });
    let is_secret =
        |(argument, shown): &TypedSecret| argument != shown && (argument.contains('=') || word.contains("://"));
    arguments.filter(is_secret).collect()
}

/// The user information in a word, with the `@` after it, in each form in which it is written.
fn logins(word: &str) -> Vec<String> {
    let value = word.strip_prefix("--").and_then(|option| option.split_once('=')).map_or(word, |(_, value)| value);
    let after = |mark: &'static str| value.match_indices(mark).map(move |(at, _)| at + mark.len());
    let urls = after("://").map(|start| (start, true));
    // An address with a slash too few, or with backslashes, still has its password.
    let others = std::iter::once(0).chain(after("::")).chain(after(":/")).chain(after(":\\")).map(|start| {
        let rest = &value[start..];
        (start + rest.len() - rest.trim_start_matches(['/', '\\']).len(), false)
    });
    let mut found = Vec::new();
    for (start, is_url) in urls.chain(others) {
        let rest = &value[start..];
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        // In `USER:P/W@HOST` the text before the slash is not a host with a port.
        let is_port =
            |port: &str| port.is_empty() || port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit());
        let is_cut = is_url && rest[..end].rsplit_once(':').is_some_and(|(_, port)| !is_port(port));
        let authority = if is_cut { rest } else { &rest[..end] };
        let Some(at) = authority.rfind('@') else { continue };
        let (info, host) = (&authority[..at], &authority[at + 1..]);
        // What follows the name of a getter, as in `git::USER:PASSWORD@HOST`, is looked at by itself.
        let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
        let begins_with_getter = info.split_once("::").is_some_and(|(getter, _)| is_word(getter));
        // `NAME:TAG@DIGEST` is no login, and neither are the user of a shared account and `ADDR@VERSION`.
        let has_password = info.split_once(':').is_some_and(|(_, password)| !password.is_empty());
        if begins_with_getter || host.starts_with("sha256:") || info == "git" || !(is_url || has_password) {
            continue;
        }
        found.extend(in_each_form(format!("{info}@")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, want: &str) {
        let said = format!("error: `{word}` is wrong");
        assert_eq!(without(&said, &secrets(word)), format!("error: `{want}` is wrong"));
    }

    #[test]
    fn a_typed_password_is_hidden_and_everything_else_stays() {
        check("https://user:secret@h.example/acme/zap", "https://***@h.example/acme/zap");
        check("user:secret@h.example/acme/zap", "***@h.example/acme/zap");
        check("https://token@h.example/acme/zap", "https://***@h.example/acme/zap");
        check("--from=user:p@ss:word=@h.example/a", "--from=***@h.example/a");
        check("https://user:a/sec?r#et@h.example/acme", "https://***@h.example/acme");
        check("https:/user:secret@h.example/x", "https:/***@h.example/x");
        check("https:\\\\user:secret@h.example/x", "***@h.example/x");
        check("//user:secret@h.example/x", "//***@h.example/x");
        check("git::https://user:secret@h.example/x.git", "git::https://***@h.example/x.git");
        check("git::user:secret@h.example:x.git", "git::***@h.example:x.git");
        check("acme/zap@https://user:secret@h.example", "acme/zap@https://***@h.example");
        for word in [
            "acme/zap@1.0.0",
            "zap@1.0.0",
            "h.example:8443/acme/zap@1.0.0",
            "h.example/acme/zap:1.0.0@sha256:00",
            "zap:1.0.0@sha256:00",
            "git::git@h.example:x.git",
            "ssh://git@h.example/x.git",
            "https://h.example/@scope",
            "https://h.example:8443/@scope",
            "https://[::1]/@scope",
            "oci:/srv/a@b",
        ] {
            check(word, word);
        }
    }

    #[test]
    fn values_of_a_query_were_repeated() {
        check("ghcr.io/acme/x?token=S3CRETpw", "ghcr.io/acme/x?token=***");
        check("https://h.example/x?ref=v1&sig=a%2Fb&S3CRETpw", "https://h.example/x?ref=v1&sig=***&***");
        check("https://user:pw@h.example/x?S3CRETpw", "https://***@h.example/x?***");
        check("--from=oci:/srv/a?key=S3CRETpw#x", "--from=oci:/srv/a?key=***#***");
        let word = "h.example/x?token=a\"b";
        let written = serde_json::json!({ "text": word }).to_string();
        assert_eq!(without(&written, &secrets(word)), r#"{"text":"h.example/x?token=***"}"#);
        for word in [
            "oci://h.example/x?tag=1.0.0",
            "oci://h.example/x?digest=sha256:00",
            "git::https://h.example/x.git?ref=v1&depth=1",
            "acme/a?b",
            "acme/*?",
            "h.example/x?",
            "why?",
        ] {
            check(word, word);
        }
    }

    #[test]
    fn a_password_is_hidden_as_it_is_written_in_json() {
        let word = "user:a\"b\\\u{7}@h.example";
        let written = serde_json::json!({ "text": word }).to_string();
        assert_eq!(without(&written, &secrets(word)), r#"{"text":"***@h.example"}"#);
    }
}

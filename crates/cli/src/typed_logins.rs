//! Passwords that were typed in an address, or stand so in a variable: no message repeats them, whoever quotes the argument.

use std::borrow::Cow;
use std::sync::OnceLock;

use tofu_oci_types::printable;

/// What begins the names of this program's variables.
const OWN_VARIABLES: &str = "TOFU_OCI_";

/// The text with `***` in the place of user information that was typed.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    static TYPED: OnceLock<Vec<String>> = OnceLock::new();
    let typed = TYPED.get_or_init(|| {
        let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(OWN_VARIABLES));
        let words = std::env::args_os().skip(1).chain(own.map(|(_, value)| value));
        words.flat_map(|word| logins(&word.to_string_lossy())).collect()
    });
    without(text, typed)
}

fn without<'a>(text: &'a str, logins: &[String]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for login in logins.iter().filter(|login| !login.is_empty()) {
        if text.contains(login.as_str()) {
            text = Cow::Owned(text.replace(login.as_str(), "***@"));
        }
    }
    text
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
        let login = format!("{info}@");
        let json = serde_json::Value::from(login.as_str()).to_string();
        found.extend([printable(&login).into_owned(), json.trim_matches('"').to_owned(), login]);
    }
    // The longest first: one may be a part of another.
    found.sort_by_key(|login| std::cmp::Reverse(login.len()));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, want: &str) {
        let said = format!("error: `{word}` is wrong");
        assert_eq!(without(&said, &logins(word)), format!("error: `{want}` is wrong"));
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
    fn a_password_is_hidden_as_it_is_written_in_json() {
        let word = "user:a\"b\\\u{7}@h.example";
        let written = serde_json::json!({ "text": word }).to_string();
        assert_eq!(without(&written, &logins(word)), r#"{"text":"***@h.example"}"#);
    }
}

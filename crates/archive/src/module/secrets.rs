//! Which text is a secret: private keys and tokens, found by their form. A module with one is not published.
//!
//! A form counts only if it is whole: neither a prefix in a sentence nor a placeholder such as `ghp_xxxx` counts. JSON web tokens
//! are not looked for: tests and examples are full of them, and they expire.
//!
//! Sources: the documentation of each service about the form of its tokens; RFC 7468 and RFC 9580 for keys; the rules that
//! gitleaks and trufflehog publish, for the forms that no document states.

mod binary;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use binary::{is_der_private_key, is_openpgp_secret};

/// What a secret begins with, and what must follow.
struct SecretForm {
    start: &'static str,
    rest: Rest,
    kind: &'static str,
}

/// What follows the beginning.
#[derive(Clone, Copy)]
enum Rest {
    /// The label of a PEM block, and its text.
    Pem,
    /// At least so many characters.
    Characters(usize, TokenBytes),
    /// The rest of a key's name, with the secret near it.
    AwsKey,
    /// Anything, with these words after it.
    Words(&'static [u8]),
    /// So many characters, a dot, and at least so many.
    Dotted(usize, usize),
    /// `=` and a key in base64, as in a configuration of `WireGuard`.
    WireGuardKey,
    /// The logins of Docker's configuration in JSON, of which one is not empty.
    DockerLogins,
    /// The host, and what follows in a netrc, with a password.
    NetrcPassword,
}

type TokenBytes = fn(u8) -> bool;

const LETTERS: TokenBytes = |byte| byte.is_ascii_alphanumeric();
const WORD: TokenBytes = |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
const HEX: TokenBytes = |byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
const BASE64: TokenBytes = |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
const URL_BASE64: TokenBytes = |byte| WORD(byte) || byte == b'=';

/// The fewest characters of a key that `base64` writes on its first line, after the marker.
const IN_BASE64: usize = 16;

const KEY: &str = "a private key";

const fn token(start: &'static str, least: usize, alphabet: TokenBytes, kind: &'static str) -> SecretForm {
    SecretForm { start, rest: Rest::Characters(least, alphabet), kind }
}

static FORMS: &[SecretForm] = &[
    SecretForm { start: "-----BEGIN ", rest: Rest::Pem, kind: KEY },
    SecretForm { start: "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY", rest: Rest::Words(b"END SSH2"), kind: KEY },
    SecretForm { start: "PuTTY-User-Key-File-", rest: Rest::Words(b"Private-Lines:"), kind: KEY },
    token("AGE-SECRET-KEY-1", 58, LETTERS, KEY),
    token("AGE-SECRET-KEY-PQ-1", 58, LETTERS, KEY),
    // PEM once more in base64, as in a kubeconfig or the manifest of a Secret.
    token("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", IN_BASE64, BASE64, KEY),
    token("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tL", IN_BASE64, BASE64, KEY),
    token("LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0t", IN_BASE64, BASE64, KEY),
    token("LS0tLS1CRUdJTiBEU0EgUFJJVkFURSBLRVktLS0tL", IN_BASE64, BASE64, KEY),
    token("LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS", IN_BASE64, BASE64, KEY),
    token("LS0tLS1CRUdJTiBQR1AgUFJJVkFURSBLRVkgQkxPQ0stLS0tL", IN_BASE64, BASE64, KEY),
    token("LS0tLS1CRUdJTiBFTkNSWVBURUQg", IN_BASE64, BASE64, KEY),
    SecretForm { start: "PrivateKey", rest: Rest::WireGuardKey, kind: KEY },
    SecretForm { start: "auths", rest: Rest::DockerLogins, kind: "a login of Docker" },
    SecretForm { start: "machine", rest: Rest::NetrcPassword, kind: "a password of a netrc" },
    token("ghp_", 36, LETTERS, "a token of GitHub"),
    token("gho_", 36, LETTERS, "a token of GitHub"),
    token("ghu_", 36, LETTERS, "a token of GitHub"),
    token("ghs_", 36, LETTERS, "a token of GitHub"),
    token("ghr_", 36, LETTERS, "a token of GitHub"),
    token("github_pat_", 82, WORD, "a token of GitHub"),
    token("glpat-", 20, WORD, "a token of GitLab"),
    token("gldt-", 20, WORD, "a token of GitLab"),
    token("glrt-", 20, WORD, "a token of GitLab"),
    token("glcbt-", 20, WORD, "a token of GitLab"),
    token("glft-", 20, WORD, "a token of GitLab"),
    token("glsoat-", 20, WORD, "a token of GitLab"),
    token("glimt-", 20, WORD, "a token of GitLab"),
    token("glagent-", 20, WORD, "a token of GitLab"),
    token("GR1348941", 20, WORD, "a token of GitLab"),
    token("glptt-", 40, HEX, "a token of GitLab"),
    token(".atlasv1.", 60, WORD, "a token of HCP Terraform"),
    token("hvs.", 24, WORD, "a token of Vault"),
    token("hvb.", 100, WORD, "a token of Vault"),
    token("hvr.", 24, WORD, "a token of Vault"),
    token("tofuoci_", 43, WORD, "a token of tofu-oci"),
    SecretForm { start: "AKIA", rest: Rest::AwsKey, kind: "an access key of AWS" },
    SecretForm { start: "ASIA", rest: Rest::AwsKey, kind: "an access key of AWS" },
    token("AIza", 35, WORD, "an API key of Google"),
    token("GOCSPX-", 28, WORD, "a client secret of Google"),
    token("ya29.", 60, WORD, "a token of Google"),
    token("AccountKey=", 86, BASE64, "an account key of Azure"),
    token("doo_v1_", 64, HEX, "a token of DigitalOcean"),
    token("dor_v1_", 64, HEX, "a token of DigitalOcean"),
    token("dop_v1_", 64, HEX, "a token of DigitalOcean"),
    token("dckr_pat_", 27, WORD, "a token of Docker Hub"),
    token("dckr_oat_", 32, WORD, "a token of Docker Hub"),
    token("npm_", 36, LETTERS, "a token of npm"),
    token("pypi-AgEIcHlwaS5vcmc", 50, WORD, "a token of PyPI"),
    token("pypi-AgENdGVzdC5weXBpLm9yZ", 50, WORD, "a token of PyPI"),
    token("xapp-", 40, WORD, "a token of Slack"),
    token("xoxe-", 40, WORD, "a token of Slack"),
    token("xoxs-", 40, WORD, "a token of Slack"),
    token("hooks.slack.com/services/", 40, BASE64, "a hook of Slack"),
    token("xoxb-", 40, WORD, "a token of Slack"),
    token("xoxp-", 40, WORD, "a token of Slack"),
    token("xoxa-", 40, WORD, "a token of Slack"),
    token("sk_live_", 24, LETTERS, "a key of Stripe"),
    token("rk_live_", 24, LETTERS, "a key of Stripe"),
    token("whsec_", 32, BASE64, "a secret of Stripe"),
    token("sk-ant-", 60, WORD, "a key of Anthropic"),
    token("sk-proj-", 60, WORD, "a key of OpenAI"),
    token("sk-svcacct-", 60, WORD, "a key of OpenAI"),
    SecretForm { start: "SG.", rest: Rest::Dotted(22, 43), kind: "a key of SendGrid" },
    token("glsa_", 41, WORD, "a token of Grafana"),
    token("glc_", 32, BASE64, "a token of Grafana"),
    token("dapi", 32, HEX, "a token of Databricks"),
    token("ATATT3", 100, URL_BASE64, "a token of Atlassian"),
    token("dp.pt.", 40, LETTERS, "a token of Doppler"),
    token("pul-", 40, HEX, "a token of Pulumi"),
    token("hf_", 34, LETTERS, "a token of Hugging Face"),
];

/// Words of texts that only show what a secret looks like, in lower case.
const PLACEHOLDERS: [&str; 12] = [
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "replace",
    "sample",
    "dummy",
    "fake",
    "xxxx",
    "12345678",
    "abcdefgh",
    "your",
];

/// How many different characters a secret has at least.
const DIFFERENT: usize = 10;

static STARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(FORMS.iter().map(|form| form.start)).expect("a few short texts make an automaton")
});

/// The first secret in a text: the number of its line, from 1, and what it is.
pub(super) fn find_secret(bytes: &[u8]) -> Option<(usize, &'static str)> {
    if is_openpgp_secret(bytes) || is_der_private_key(bytes) {
        return Some((1, KEY));
    }
    let narrow: Vec<u8>;
    let text = match bytes {
        // UTF-16 of a text in ASCII is this text with zeros in it.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            narrow = bytes.iter().copied().filter(|byte| *byte != 0).collect();
            &narrow
        }
        _ => bytes,
    };
    let found = STARTS.find_iter(text).find(|found| {
        let form = &FORMS[found.pattern().as_usize()];
        let is_start =
            !form.start.starts_with(|first: char| first.is_ascii_alphanumeric()) || ends_word(&text[..found.start()]);
        is_start && follows(text, found.start(), found.end(), form.rest)
    })?;
    let line = text[..found.start()].split(|byte| *byte == b'\n').count();
    Some((line, FORMS[found.pattern().as_usize()].kind))
}

/// Whether a file whose name is usual for keys and certificates holds a private key: here the words are enough.
pub(super) fn has_private_key(bytes: &[u8]) -> bool {
    let words = b"PRIVATE KEY";
    bytes.windows(words.len()).any(|found| found == words) || find_secret(bytes).is_some()
}

/// Whether what stands after the beginning of a form, which lies from `start` to `end`, makes it whole.
fn follows(text: &[u8], start: usize, end: usize, rest: Rest) -> bool {
    let after = &text[end..];
    match rest {
        Rest::Pem => is_private_pem(after),
        Rest::Words(words) => near(after, 0, 64 << 10).windows(words.len()).any(|found| found == words),
        Rest::Characters(least, alphabet) => {
            let run = run(after, alphabet);
            // A long text has words of all kinds in it by chance.
            run.len() >= least && is_random(&run[..least])
        }
        Rest::Dotted(first, least) => {
            let name = run(after, WORD);
            let secret = after[name.len()..].strip_prefix(b".").map(|rest| run(rest, WORD));
            name.len() == first && secret.is_some_and(|secret| secret.len() >= least && is_random(secret))
        }
        Rest::WireGuardKey => {
            let value = after.trim_ascii_start().strip_prefix(b"=").map(|value| run(value.trim_ascii_start(), BASE64));
            value.is_some_and(|key| key.len() == 44 && key[42] != b'=' && key[43] == b'=' && is_random(key))
        }
        Rest::DockerLogins => has_docker_login(near(after, 0, 16 << 10)),
        Rest::NetrcPassword => has_netrc_password(near(after, 0, 4 << 10)),
        Rest::AwsKey => {
            let name = run(after, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let is_secret = |run: &[u8]| {
                let has = |of: fn(&u8) -> bool| run.iter().any(of);
                run.len() == 40
                    && has(u8::is_ascii_uppercase)
                    && has(u8::is_ascii_lowercase)
                    && has(u8::is_ascii_digit)
                    && is_random(run)
            };
            let around = near(text, start.saturating_sub(400), 800);
            name.len() == 16 && around.split(|byte| !BASE64(*byte) || *byte == b'=').any(is_secret)
        }
    }
}

/// Whether the text before ends in a character that is not a letter, or in an escape (`\n`, `\u0020`, `%3D`).
fn ends_word(before: &[u8]) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., last] if !WORD(*last) => true,
        _ => {
            before.last_chunk::<6>().is_some_and(|end| end.starts_with(b"\\u") && is_hex(&end[2..]))
                || before.last_chunk::<3>().is_some_and(|end| end[0] == b'%' && is_hex(&end[1..]))
        }
    }
}

/// `length` bytes from `from` on, as far as there are some.
fn near(text: &[u8], from: usize, length: usize) -> &[u8] {
    &text[from.min(text.len())..from.saturating_add(length).min(text.len())]
}

fn run(text: &[u8], alphabet: TokenBytes) -> &[u8] {
    &text[..text.iter().position(|byte| !alphabet(*byte)).unwrap_or(text.len())]
}

/// The label says that the key is private, and base64 follows, perhaps after headers.
fn is_private_pem(after: &[u8]) -> bool {
    let label = run(after, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let is_label = label.windows(11).any(|words| words == b"PRIVATE KEY") && after[label.len()..].starts_with(b"-----");
    let body = near(after, label.len() + 5, 8 << 10);
    let body = &body[..body.windows(5).position(|end| end == b"-----").unwrap_or(body.len())];
    // A shortened key is an example.
    let is_cut = body.windows(3).any(|dots| dots == b"...");
    // Words of a sentence are shorter than lines of a key.
    let lines = body.split(|byte| !BASE64(*byte)).filter(|line| line.len() >= 16);
    let text: Vec<u8> = lines.flatten().copied().take(64).collect();
    is_label && !is_cut && text.len() >= 40 && is_random(&text)
}

/// Whether `"auth": "…"` follows the end of the name `"auths"`, with a login in base64. The quotes may be escaped.
fn has_docker_login(after: &[u8]) -> bool {
    let unescaped: Vec<u8> = after.iter().copied().filter(|byte| *byte != b'\\').collect();
    let name = b"\"auth\"";
    unescaped.starts_with(b"\"")
        && unescaped.windows(name.len()).enumerate().any(|(at, found)| {
            let value = unescaped[at + found.len()..].trim_ascii_start().strip_prefix(b":");
            let login = value.and_then(|value| value.trim_ascii_start().strip_prefix(b"\""));
            let login = login.map(|login| (run(login, BASE64), login));
            found == name
                && login.is_some_and(|(login, rest)| rest[login.len()..].starts_with(b"\"") && is_random(login))
        })
}

/// Whether a password follows the word `machine`, after a host and other pairs of a netrc.
fn has_netrc_password(after: &[u8]) -> bool {
    if !after.starts_with(b" ") && !after.starts_with(b"\t") {
        return false;
    }
    let mut words = after.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip(1);
    loop {
        match (words.next(), words.next()) {
            (Some(b"login" | b"account" | b"port"), Some(_)) => {}
            (Some(b"password"), Some(password)) => return is_password(password),
            _ => return false,
        }
    }
}

/// Whether this is a password, and not a word or a sign that stands for one.
fn is_password(text: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(text).to_ascii_lowercase();
    let said = ["password", "passwd", "secret", "token", "..."];
    let is_word =
        text.iter().all(u8::is_ascii_lowercase) || text.iter().all(|byte| !byte.is_ascii_lowercase() && WORD(*byte));
    text.len() >= 6
        && !is_word
        && text.iter().all(|byte| byte.is_ascii_graphic() && !b"<>[]{}()$%*`".contains(byte))
        && !said.iter().chain(&PLACEHOLDERS).any(|word| lower.contains(word))
}

fn is_random(text: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in text {
        seen[usize::from(*byte)] = true;
    }
    let lower = String::from_utf8_lossy(text).to_ascii_lowercase();
    seen.iter().filter(|seen| **seen).count() >= DIFFERENT && !PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests;

//! A credential file decoded by Go's rules, without a choice. Two choosers go over the result: ours ([`crate::file`]) and
//! the model of `OpenTofu` ([`crate::opentofu`]).
//!
//! Spec: Go 1.25, `encoding/json`, `Unmarshal` into `dockerCLIStyleConfigFile` of `OpenTofu` 1.12, ociauthconfig.

use std::borrow::Cow;

use base64::Engine as _;
use zeroize::Zeroizing;

use tofu_oci_types::{JsonFault, JsonKind, JsonMember, JsonValue};

use crate::json::{self, BASE64};

/// A file's members, in their order.
pub(crate) struct DecodedFile {
    /// Whether the file begins with a byte order mark.
    pub(crate) has_byte_order_mark: bool,
    /// The members that count, or why there are none.
    pub(crate) sections: Result<Vec<DecodedSection>, DecodeFault>,
    /// What the file is instead, if no member counts.
    pub(crate) mistaken: Option<&'static str>,
}

/// Why a file has no members.
pub(crate) enum DecodeFault {
    NotJson {
        line: usize,
        column: usize,
        reason: String,
    },
    /// It is JSON, and not an object.
    NotObject {
        line: usize,
    },
}

/// One member of a file.
pub(crate) struct DecodedSection {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) content: SectionContent,
}

/// What a member holds.
pub(crate) enum SectionContent {
    Auths(Decoded<Vec<DecodedEntry>>),
    Helpers(Decoded<Vec<DecodedHelper>>),
    Store(Decoded<Zeroizing<String>>),
}

/// A value in the position of one of a certain kind.
pub(crate) enum Decoded<T> {
    Null,
    Valid(T),
    /// A value of another kind.
    Invalid,
}

/// An entry of `auths`.
pub(crate) struct DecodedEntry {
    /// As written; it may contain a secret.
    pub(crate) key: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) fields: Decoded<Vec<EntryField>>,
}

/// A member of an entry.
pub(crate) enum EntryField {
    Auth {
        line: usize,
        bytes: Result<Zeroizing<Vec<u8>>, AuthFault>,
    },
    IdentityToken(Decoded<Zeroizing<String>>),
    /// A `password` beside it, which counts nowhere.
    Password,
}

/// Why an `auth` has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthFault {
    NotText,
    ListOfOthers,
    Unpadded,
    UrlAlphabet,
    Blanks,
    NotBase64,
}

/// An entry of `credHelpers`.
pub(crate) struct DecodedHelper {
    pub(crate) key: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) name: Decoded<Zeroizing<String>>,
}

impl DecodedFile {
    /// Decodes a file's bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let body = bytes.strip_prefix(b"\xef\xbb\xbf");
        // Bytes that are not UTF-8 become U+FFFD, as in Go: inside a text they are harmless, elsewhere wrong syntax.
        let replaced;
        let text = match String::from_utf8_lossy(body.unwrap_or(bytes)) {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => {
                replaced = Zeroizing::new(text);
                replaced.as_str()
            }
        };
        let sections = sections(text);
        let mistaken = if sections.as_ref().is_ok_and(Vec::is_empty) { mistaken(text) } else { None };
        Self { has_byte_order_mark: body.is_some(), sections, mistaken }
    }
}

/// What a file without any member that counts was made for.
fn mistaken(text: &str) -> Option<&'static str> {
    let top = json::parse(text).ok()?;
    let has = |value: &JsonValue<'_>, name: &str| value.members().iter().any(|member| member.is_named(name));
    let members = top.members();
    let is_secret = |value: &JsonValue<'_>| has(value, ".dockerconfigjson") || has(value, ".dockercfg");
    if is_secret(&top) || members.iter().any(|member| member.is_named("data") && is_secret(&member.value)) {
        return Some(
            "it is a Secret of Kubernetes; the credential file is what `.dockerconfigjson` in it is the base64 of",
        );
    }
    let is_entry = |member: &JsonMember<'_>| has(&member.value, "auth") || has(&member.value, "password");
    let of_old =
        "it has the form of an old `.dockercfg`, and holds no credentials that count; its entries belong below `auths`";
    members.iter().any(is_entry).then_some(of_old)
}

fn sections(text: &str) -> Result<Vec<DecodedSection>, DecodeFault> {
    let wrong = |JsonFault { line, column, message }| DecodeFault::NotJson { line, column, reason: message };
    let top = json::parse(text).map_err(wrong)?;
    match &top.kind {
        JsonKind::Null => Ok(Vec::new()),
        JsonKind::Object(members) => Ok(members.iter().filter_map(section).collect()),
        _ => Err(DecodeFault::NotObject { line: top.line }),
    }
}

fn section(member: &JsonMember<'_>) -> Option<DecodedSection> {
    let content = if member.is_named("auths") {
        SectionContent::Auths(members(&member.value, |entry| DecodedEntry {
            key: entry.name.text().to_string(),
            line: entry.line,
            fields: fields(&entry.value),
        }))
    } else if member.is_named("credHelpers") {
        SectionContent::Helpers(members(&member.value, |entry| DecodedHelper {
            key: entry.name.text().to_string(),
            line: entry.line,
            name: text(&entry.value),
        }))
    } else if member.is_named("credsStore") {
        SectionContent::Store(text(&member.value))
    } else {
        return None;
    };
    Some(DecodedSection { line: member.line, content })
}

fn fields(value: &JsonValue<'_>) -> Decoded<Vec<EntryField>> {
    let field = |member: &JsonMember<'_>| {
        if member.is_named("auth") {
            Some(EntryField::Auth { line: member.line, bytes: bytes(&member.value) })
        } else if member.is_named("identitytoken") {
            Some(EntryField::IdentityToken(text(&member.value)))
        } else if member.is_named("password") {
            Some(EntryField::Password)
        } else {
            None
        }
    };
    match members(value, field) {
        Decoded::Valid(fields) => Decoded::Valid(fields.into_iter().flatten().collect()),
        Decoded::Null => Decoded::Null,
        Decoded::Invalid => Decoded::Invalid,
    }
}

fn members<T>(value: &JsonValue<'_>, each: impl FnMut(&JsonMember<'_>) -> T) -> Decoded<Vec<T>> {
    match &value.kind {
        JsonKind::Null => Decoded::Null,
        JsonKind::Object(members) => Decoded::Valid(members.iter().map(each).collect()),
        _ => Decoded::Invalid,
    }
}

fn text(value: &JsonValue<'_>) -> Decoded<Zeroizing<String>> {
    match value.kind {
        JsonKind::Null => Decoded::Null,
        JsonKind::String(text) => Decoded::Valid(text.text()),
        _ => Decoded::Invalid,
    }
}

/// What Go reads as bytes: base64 with line breaks anywhere, a list of byte values, or `null`.
fn bytes(value: &JsonValue<'_>) -> Result<Zeroizing<Vec<u8>>, AuthFault> {
    match &value.kind {
        JsonKind::Null => Ok(Zeroizing::new(Vec::new())),
        JsonKind::String(text) => base64(&text.text()),
        JsonKind::Array(items) => {
            let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
            bytes.map(Zeroizing::new).ok_or(AuthFault::ListOfOthers)
        }
        _ => Err(AuthFault::NotText),
    }
}

fn byte(item: &JsonValue<'_>) -> Option<u8> {
    match item.kind {
        JsonKind::Null => Some(0),
        JsonKind::Number(number) => number.parse().ok(),
        _ => None,
    }
}

fn base64(text: &str) -> Result<Zeroizing<Vec<u8>>, AuthFault> {
    let mut plain = Zeroizing::new(String::with_capacity(text.len()));
    plain.extend(text.chars().filter(|letter| !matches!(letter, '\r' | '\n')));
    BASE64.decode(plain.as_bytes()).map(Zeroizing::new).map_err(|_| {
        let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
        let body = plain.trim_end_matches('=');
        if body.chars().all(sound) && body.len() == plain.len() {
            AuthFault::Unpadded
        } else if body.chars().all(|letter| sound(letter) || matches!(letter, '-' | '_')) && body.contains(['-', '_']) {
            AuthFault::UrlAlphabet
        } else if plain.contains(|letter: char| letter.is_whitespace()) {
            AuthFault::Blanks
        } else {
            AuthFault::NotBase64
        }
    })
}

//! A credential file decoded by Go's rules, without a choice. Two choosers go over the result: ours ([`crate::file`]) and
//! the model of `OpenTofu` ([`crate::opentofu`]).
//!
//! Spec: Go 1.25, `encoding/json`, `Unmarshal` into `dockerCLIStyleConfigFile` of `OpenTofu` 1.12, ociauthconfig.

use std::borrow::Cow;

use base64::Engine as _;
use zeroize::Zeroizing;

use crate::json::{BASE64, JsonKind, JsonPiece, JsonText, ObjectMember};

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
    Auths(JsonValue<Vec<DecodedEntry>>),
    Helpers(JsonValue<Vec<DecodedHelper>>),
    Store(JsonValue<Zeroizing<String>>),
}

/// A value in the position of one of a certain kind.
pub(crate) enum JsonValue<T> {
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
    pub(crate) fields: JsonValue<Vec<EntryField>>,
}

/// A member of an entry.
pub(crate) enum EntryField {
    Auth {
        line: usize,
        bytes: Result<Zeroizing<Vec<u8>>, AuthFault>,
    },
    IdentityToken(JsonValue<Zeroizing<String>>),
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
    pub(crate) name: JsonValue<Zeroizing<String>>,
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
    let (_, top) = JsonText::parse(text).ok()?;
    let has = |piece: JsonPiece<'_>, name: &str| piece.members().iter().any(|member| member.is_named(name));
    let members = top.members();
    let is_secret = |piece: JsonPiece<'_>| has(piece, ".dockerconfigjson") || has(piece, ".dockercfg");
    if is_secret(top) || members.iter().any(|member| member.is_named("data") && is_secret(member.value)) {
        return Some(
            "it is a Secret of Kubernetes; the credential file is what `.dockerconfigjson` in it is the base64 of",
        );
    }
    let is_entry = |member: &ObjectMember<'_>| has(member.value, "auth") || has(member.value, "password");
    let of_old =
        "it has the form of an old `.dockercfg`, and holds no credentials that count; its entries belong below `auths`";
    members.iter().any(is_entry).then_some(of_old)
}

fn sections(text: &str) -> Result<Vec<DecodedSection>, DecodeFault> {
    let (document, top) = JsonText::parse(text).map_err(|fault| DecodeFault::NotJson {
        line: fault.line,
        column: fault.column,
        reason: fault.reason,
    })?;
    match top.kind() {
        JsonKind::Null => Ok(Vec::new()),
        JsonKind::Object => Ok(top.members().iter().filter_map(|member| section(&document, member)).collect()),
        _ => Err(DecodeFault::NotObject { line: document.line(top) }),
    }
}

fn section(document: &JsonText<'_>, member: &ObjectMember<'_>) -> Option<DecodedSection> {
    let content = if member.is_named("auths") {
        SectionContent::Auths(members(member.value, |entry| DecodedEntry {
            key: entry.key().to_string(),
            line: document.line_of(entry),
            fields: fields(document, entry.value),
        }))
    } else if member.is_named("credHelpers") {
        SectionContent::Helpers(members(member.value, |entry| DecodedHelper {
            key: entry.key().to_string(),
            line: document.line_of(entry),
            name: text(entry.value),
        }))
    } else if member.is_named("credsStore") {
        SectionContent::Store(text(member.value))
    } else {
        return None;
    };
    Some(DecodedSection { line: document.line_of(member), content })
}

fn fields(document: &JsonText<'_>, value: JsonPiece<'_>) -> JsonValue<Vec<EntryField>> {
    let field = |member: &ObjectMember<'_>| {
        if member.is_named("auth") {
            Some(EntryField::Auth { line: document.line_of(member), bytes: bytes(member.value) })
        } else if member.is_named("identitytoken") {
            Some(EntryField::IdentityToken(text(member.value)))
        } else if member.is_named("password") {
            Some(EntryField::Password)
        } else {
            None
        }
    };
    match members(value, field) {
        JsonValue::Valid(fields) => JsonValue::Valid(fields.into_iter().flatten().collect()),
        JsonValue::Null => JsonValue::Null,
        JsonValue::Invalid => JsonValue::Invalid,
    }
}

fn members<T>(value: JsonPiece<'_>, each: impl FnMut(&ObjectMember<'_>) -> T) -> JsonValue<Vec<T>> {
    match value.kind() {
        JsonKind::Null => JsonValue::Null,
        JsonKind::Object => JsonValue::Valid(value.members().iter().map(each).collect()),
        _ => JsonValue::Invalid,
    }
}

fn text(value: JsonPiece<'_>) -> JsonValue<Zeroizing<String>> {
    match (value.kind(), value.text()) {
        (JsonKind::Null, _) => JsonValue::Null,
        (_, Some(text)) => JsonValue::Valid(text),
        (_, None) => JsonValue::Invalid,
    }
}

/// What Go reads as bytes: base64 with line breaks anywhere, a list of byte values, or `null`.
fn bytes(value: JsonPiece<'_>) -> Result<Zeroizing<Vec<u8>>, AuthFault> {
    match value.kind() {
        JsonKind::Null => Ok(Zeroizing::new(Vec::new())),
        JsonKind::Text => value.text().map_or(Err(AuthFault::NotText), |text| base64(&text)),
        JsonKind::List => {
            let bytes: Option<Vec<u8>> = value.items().into_iter().map(byte).collect();
            bytes.map(Zeroizing::new).ok_or(AuthFault::ListOfOthers)
        }
        _ => Err(AuthFault::NotText),
    }
}

fn byte(item: JsonPiece<'_>) -> Option<u8> {
    if item.kind() == JsonKind::Null { Some(0) } else { item.raw().parse().ok() }
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

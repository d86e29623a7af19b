//! A credential file as `OpenTofu` decodes it: by Go's rules for JSON, all or nothing.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use tofu_oci_types::masked_user;
use zeroize::Zeroizing;

use crate::Secret;
use crate::json::{Member, Node, Sort, same_name};

/// Go's `base64.StdEncoding`: padding is demanded, the unused bits of the last letter may be anything.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// What `OpenTofu` knows of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// `auths`: each key once, the last of two counts; those with an empty `auth` too.
    pub(super) auths: Vec<Auth>,
    /// `credHelpers`: each key once, the last of two counts; those with an empty name too.
    pub(super) helpers: Vec<Helper>,
    /// `credsStore`, perhaps empty.
    pub(super) store: Option<Helper>,
    /// Why it takes the whole file for broken; what was read is then without effect.
    off: Option<Off>,
}

/// An entry of `auths`.
#[derive(Clone, Debug)]
pub(super) struct Auth {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) pair: Pair,
}

/// What an `auth` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// No `auth`, or an empty one.
    Absent,
    /// Split at the first colon. Bytes that are no UTF-8, which `OpenTofu` sends as they are, are replaced.
    Basic {
        username: String,
        password: Secret,
    },
    WithoutColon,
}

/// A helper's name under its key (none for `credsStore`).
#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) name: String,
}

/// Why a file turns all ambient files off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Off {
    /// From 1.
    pub(crate) line: usize,
    /// What is wrong; quotes nothing secret.
    pub(crate) problem: String,
}

impl Reading {
    /// Decodes a file's bytes. A file that is broken is a [`Reading`] too: see [`Reading::off`].
    ///
    /// Spec: Go 1.25, `encoding/json`, `Unmarshal` into `dockerCLIStyleConfigFile` of `OpenTofu` 1.12, ociauthconfig.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut reading = Self::default();
        match Node::parse(bytes) {
            Err(_) if bytes.starts_with(b"\xef\xbb\xbf") => reading.fault(1, "it starts with a byte order mark"),
            Err(_) if bytes.is_empty() => reading.fault(1, "it is empty"),
            Err(fault) => {
                reading.fault(fault.line, format!("it is not JSON: it breaks at column {}", fault.column));
            }
            Ok(top) => reading.top(&top),
        }
        reading
    }

    /// Why the file, and with it every ambient file, is without effect. What stands first in the file is told.
    pub(crate) fn off(&self) -> Option<&Off> {
        self.off.as_ref()
    }

    /// The helper that docker asks about a server: that of `credHelpers`, an empty name too, else the `credsStore`.
    pub(crate) fn helper_name(&self, server: &str) -> Option<&str> {
        let named = self.helpers.iter().find(|helper| helper.key == server);
        named.or(self.store.as_ref()).map(|helper| helper.name.as_str())
    }

    fn fault(&mut self, line: usize, problem: impl Into<String>) {
        self.off.get_or_insert_with(|| Off { line, problem: problem.into() });
    }

    fn top(&mut self, top: &Node<'_>) {
        match top.sort() {
            Sort::Object => {}
            Sort::Null => return,
            _ => return self.fault(top.line(), "it is not an object"),
        }
        for Member { name, value, .. } in top.members() {
            if same_name(&name, "auths") {
                self.members(&value, "auths", Self::auth, |reading| reading.auths.clear());
            } else if same_name(&name, "credHelpers") {
                self.members(&value, "credHelpers", Self::helper, |reading| reading.helpers.clear());
            } else if same_name(&name, "credsStore") {
                match value.text() {
                    Some(name) => {
                        self.store = Some(Helper { key: String::new(), line: value.line(), name: name.to_string() });
                    }
                    None if value.sort() == Sort::Null => {}
                    None => self.fault(value.line(), "its `credsStore` is not text"),
                }
            }
        }
    }

    /// Reads a map; `null` empties what was read before.
    fn members(&mut self, map: &Node<'_>, name: &str, read: fn(&mut Self, String, &Node<'_>), empty: fn(&mut Self)) {
        match map.sort() {
            Sort::Object => map.members().into_iter().for_each(|member| read(self, member.name, &member.value)),
            Sort::Null => empty(self),
            _ => self.fault(map.line(), format!("its `{name}` is not an object")),
        }
    }

    fn auth(&mut self, key: String, entry: &Node<'_>) {
        let line = entry.line();
        let mut bytes = Zeroizing::new(Vec::new());
        if !matches!(entry.sort(), Sort::Object | Sort::Null) {
            self.fault(line, format!("the entry {} of `auths` is not an object", shown(&key)));
        }
        for member in entry.members().into_iter().filter(|member| same_name(&member.name, "auth")) {
            match decode(&member.value) {
                Ok(decoded) => bytes = decoded,
                Err(problem) => {
                    self.fault(member.value.line(), format!("the `auth` of {} {problem}", shown(&key)));
                }
            }
        }
        let pair = match bytes.iter().position(|byte| *byte == b':') {
            _ if bytes.is_empty() => Pair::Absent,
            None => Pair::WithoutColon,
            Some(colon) => Pair::Basic {
                username: String::from_utf8_lossy(&bytes[..colon]).into_owned(),
                password: Secret::new(String::from_utf8_lossy(&bytes[colon + 1..])),
            },
        };
        self.auths.retain(|auth| auth.key != key);
        self.auths.push(Auth { key, line, pair });
    }

    fn helper(&mut self, key: String, value: &Node<'_>) {
        let name = match value.sort() {
            Sort::Text => value.text().map(|name| name.to_string()).unwrap_or_default(),
            Sort::Null => String::new(),
            _ => return self.fault(value.line(), format!("the entry {} of `credHelpers` is not text", shown(&key))),
        };
        self.helpers.retain(|helper| helper.key != key);
        self.helpers.push(Helper { key, line: value.line(), name });
    }
}

/// What Go makes of a value where it wants bytes: base64 with line ends anywhere, a list of numbers, or `null`.
fn decode(value: &Node<'_>) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    match value.sort() {
        Sort::Null => Ok(Zeroizing::new(Vec::new())),
        Sort::List => {
            let byte = |item: &Node<'_>| match item.sort() {
                Sort::Null => Some(0),
                Sort::Number => std::str::from_utf8(item.raw()).ok()?.parse().ok(),
                _ => None,
            };
            let bytes: Option<Vec<u8>> = value.items().iter().map(byte).collect();
            bytes.map(Zeroizing::new).ok_or("is a list of other things than bytes")
        }
        Sort::Text => {
            let text = value.text().unwrap_or_default();
            let mut letters = Zeroizing::new(Vec::with_capacity(text.len()));
            letters.extend(text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')));
            BASE64.decode(letters.as_slice()).map(Zeroizing::new).map_err(|_| "is not base64")
        }
        _ => Err("is not text"),
    }
}

/// A key as people may see it.
pub(super) fn shown(key: &str) -> String {
    masked_user(key).escape_debug().to_string()
}

#[cfg(test)]
mod tests;

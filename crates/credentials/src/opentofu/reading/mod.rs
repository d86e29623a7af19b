//! A credential file as `OpenTofu` decodes it: by Go's rules for JSON, all or nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use zeroize::Zeroizing;

use crate::json::{BASE64, Document, Kind, Member, Piece};
use crate::key::shown;
use tofu_oci_types::Secret;

/// What `OpenTofu` knows of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// `auths` by key, the last of two counts; those with an empty `auth` too.
    pub(super) auths: BTreeMap<String, Auth>,
    /// `credHelpers` by key, the last of two counts; those with an empty name too.
    pub(super) helpers: BTreeMap<String, Helper>,
    /// `credsStore`, perhaps empty.
    pub(super) store: Option<Helper>,
    /// Why it takes the whole file for broken; what was read is then without effect.
    off: Option<Off>,
}

/// An entry of `auths`.
#[derive(Clone, Debug)]
pub(super) struct Auth {
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

/// A helper's name.
#[derive(Clone, Debug)]
pub(super) struct Helper {
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
        if bytes.starts_with(b"\xef\xbb\xbf") {
            reading.fault(1, "it starts with a byte order mark");
            return reading;
        }
        // What is no UTF-8 is mended inside texts; elsewhere it is wrong in either form.
        let text = match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => Zeroizing::new(text.to_owned()),
            Cow::Owned(text) => Zeroizing::new(text),
        };
        match Document::parse(&text) {
            Err(fault) => {
                reading.fault(fault.line, format!("it is not JSON: {} at column {}", fault.reason, fault.column));
            }
            Ok((document, top)) => reading.top(&document, top),
        }
        reading
    }

    /// Why the file, and with it every ambient file, is without effect. What stands first in the file is told.
    pub(crate) fn off(&self) -> Option<&Off> {
        self.off.as_ref()
    }

    /// The helper that docker asks about a server: that of `credHelpers`, an empty name too, else the `credsStore`.
    pub(crate) fn helper_name(&self, server: &str) -> Option<&str> {
        self.helpers.get(server).or(self.store.as_ref()).map(|helper| helper.name.as_str())
    }

    fn fault(&mut self, line: usize, problem: impl Into<String>) {
        self.off.get_or_insert_with(|| Off { line, problem: problem.into() });
    }

    fn top(&mut self, document: &Document<'_>, top: Piece<'_>) {
        match top.kind() {
            Kind::Object => {}
            Kind::Null => return,
            _ => return self.fault(document.line(top), "it is not an object"),
        }
        for member in top.members() {
            let line = document.line_of(&member);
            if member.is_named("auths") {
                match member.value.kind() {
                    Kind::Object => member.value.members().iter().for_each(|entry| self.auth(document, entry)),
                    Kind::Null => self.auths.clear(),
                    _ => self.fault(line, "its `auths` is not an object"),
                }
            } else if member.is_named("credHelpers") {
                match member.value.kind() {
                    Kind::Object => member.value.members().iter().for_each(|entry| self.helper(document, entry)),
                    Kind::Null => self.helpers.clear(),
                    _ => self.fault(line, "its `credHelpers` is not an object"),
                }
            } else if member.is_named("credsStore") {
                match member.value.text() {
                    Some(name) => self.store = Some(Helper { line, name: name.to_string() }),
                    None if member.value.kind() == Kind::Null => {}
                    None => self.fault(line, "its `credsStore` is not text"),
                }
            }
        }
    }

    fn auth(&mut self, document: &Document<'_>, entry: &Member<'_>) {
        let (key, line) = (entry.key().to_string(), document.line_of(entry));
        let mut bytes = Zeroizing::new(Vec::new());
        if !matches!(entry.value.kind(), Kind::Object | Kind::Null) {
            self.fault(line, format!("the entry {} of `auths` is not an object", shown(&key)));
        }
        for member in entry.value.members().iter().filter(|member| member.is_named("auth")) {
            match decode(member.value) {
                Ok(decoded) => bytes = decoded,
                Err(problem) => {
                    self.fault(document.line_of(member), format!("the `auth` of {} {problem}", shown(&key)));
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
        self.auths.insert(key, Auth { line, pair });
    }

    fn helper(&mut self, document: &Document<'_>, entry: &Member<'_>) {
        let (key, line) = (entry.key().to_string(), document.line_of(entry));
        let name = match entry.value.kind() {
            Kind::Text => entry.value.text().map(|name| name.to_string()).unwrap_or_default(),
            Kind::Null => String::new(),
            _ => return self.fault(line, format!("the entry {} of `credHelpers` is not text", shown(&key))),
        };
        self.helpers.insert(key, Helper { line, name });
    }
}

/// What Go makes of a value where it wants bytes: base64 with line ends anywhere, a list of numbers, or `null`.
fn decode(value: Piece<'_>) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    match value.kind() {
        Kind::Null => Ok(Zeroizing::new(Vec::new())),
        Kind::List => {
            let byte = |item: Piece<'_>| match item.kind() {
                Kind::Null => Some(0),
                Kind::Other => item.raw().parse().ok(),
                _ => None,
            };
            let bytes: Option<Vec<u8>> = value.items().into_iter().map(byte).collect();
            bytes.map(Zeroizing::new).ok_or("is a list of other things than bytes")
        }
        Kind::Text => {
            let text = value.text().unwrap_or_default();
            let mut letters = Zeroizing::new(Vec::with_capacity(text.len()));
            letters.extend(text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')));
            BASE64.decode(letters.as_slice()).map(Zeroizing::new).map_err(|_| "is not base64")
        }
        _ => Err("is not text"),
    }
}

#[cfg(test)]
mod tests;

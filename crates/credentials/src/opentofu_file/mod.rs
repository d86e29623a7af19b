//! A credential file as `OpenTofu` takes it: all or nothing.

use std::collections::BTreeMap;

use crate::decoded::{
    AuthFault, DecodeFault, Decoded, DecodedEntry, DecodedFile, DecodedHelper, DecodedSection, EntryField,
    SectionContent,
};
use crate::key::shown;
use tofu_oci_types::Secret;

/// What `OpenTofu` knows of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTofuFile {
    /// `auths` by key, the last of two counts; those with an empty `auth` too.
    pub(crate) auths: BTreeMap<String, FileAuth>,
    /// `credHelpers` by key, the last of two counts; those with an empty name too.
    pub(crate) helpers: BTreeMap<String, FileHelper>,
    /// `credsStore`, perhaps empty.
    pub(crate) store: Option<FileHelper>,
    /// Why the whole file has no effect.
    off: Option<Off>,
}

/// An entry of `auths`.
#[derive(Clone, Debug)]
pub(crate) struct FileAuth {
    pub(crate) line: usize,
    pub(crate) pair: Pair,
}

/// What an `auth` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    /// No `auth`, or an empty one.
    Absent,
    /// Split at the first colon. Bytes that are not UTF-8, which `OpenTofu` sends as they are, are replaced.
    Basic {
        username: String,
        password: Secret,
    },
    WithoutColon,
}

/// A helper's name.
#[derive(Clone, Debug)]
pub(crate) struct FileHelper {
    pub(crate) line: usize,
    pub(crate) name: String,
}

/// Why a file turns all ambient files off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Off {
    /// From 1.
    pub(crate) line: usize,
    /// What is wrong; quotes nothing secret.
    pub(crate) problem: String,
}

impl OpenTofuFile {
    /// What it makes of a decoded file. An invalid file is an [`OpenTofuFile`] too: see [`OpenTofuFile::off`].
    pub(crate) fn of(decoded: &DecodedFile) -> Self {
        let mut file = Self::default();
        if decoded.has_byte_order_mark {
            file.fault(1, "it starts with a byte order mark");
            return file;
        }
        match &decoded.sections {
            Ok(sections) => sections.iter().for_each(|section| file.section(section)),
            Err(DecodeFault::NotJson { line, column, reason }) => {
                file.fault(*line, format!("it is not JSON: {reason} at column {column}"));
            }
            Err(DecodeFault::NotObject { line }) => file.fault(*line, "it is not an object"),
        }
        file
    }

    /// Why the file, and with it every ambient file, has no effect: the first fault in the file.
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

    fn section(&mut self, DecodedSection { line, content }: &DecodedSection) {
        match content {
            SectionContent::Auths(Decoded::Valid(entries)) => entries.iter().for_each(|entry| self.auth(entry)),
            SectionContent::Auths(Decoded::Null) => self.auths.clear(),
            SectionContent::Auths(Decoded::Invalid) => self.fault(*line, "its `auths` is not an object"),
            SectionContent::Helpers(Decoded::Valid(entries)) => entries.iter().for_each(|entry| self.helper(entry)),
            SectionContent::Helpers(Decoded::Null) => self.helpers.clear(),
            SectionContent::Helpers(Decoded::Invalid) => self.fault(*line, "its `credHelpers` is not an object"),
            SectionContent::Store(Decoded::Valid(name)) => {
                self.store = Some(FileHelper { line: *line, name: name.to_string() });
            }
            SectionContent::Store(Decoded::Null) => {}
            SectionContent::Store(Decoded::Invalid) => self.fault(*line, "its `credsStore` is not text"),
        }
    }

    fn auth(&mut self, DecodedEntry { key, line, fields }: &DecodedEntry) {
        let mut bytes: &[u8] = &[];
        match fields {
            Decoded::Null => {}
            Decoded::Invalid => self.fault(*line, format!("the entry {} of `auths` is not an object", shown(key))),
            Decoded::Valid(fields) => {
                for field in fields {
                    match field {
                        EntryField::Auth { bytes: Ok(decoded), .. } => bytes = decoded,
                        EntryField::Auth { line, bytes: Err(fault) } => {
                            self.fault(*line, format!("the `auth` of {} {}", shown(key), problem(*fault)));
                        }
                        EntryField::IdentityToken(_) | EntryField::Password => {}
                    }
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
        self.auths.insert(key.clone(), FileAuth { line: *line, pair });
    }

    fn helper(&mut self, DecodedHelper { key, line, name }: &DecodedHelper) {
        let name = match name {
            Decoded::Valid(name) => name.to_string(),
            Decoded::Null => String::new(),
            Decoded::Invalid => {
                return self.fault(*line, format!("the entry {} of `credHelpers` is not text", shown(key)));
            }
        };
        self.helpers.insert(key.clone(), FileHelper { line: *line, name });
    }
}

fn problem(fault: AuthFault) -> &'static str {
    match fault {
        AuthFault::NotText => "is not text",
        AuthFault::ListOfOthers => "is a list of other things than bytes",
        AuthFault::Unpadded | AuthFault::UrlAlphabet | AuthFault::Blanks | AuthFault::NotBase64 => "is not base64",
    }
}

#[cfg(test)]
mod tests;

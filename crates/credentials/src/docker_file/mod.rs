//! Docker's `config.json`, edited as `docker login` and `docker logout` edit it; podman's `auth.json` is the same.
//!
//! ```text
//! bytes of the file, or none --store_login, store_mark, remove--> Edit: the new bytes, and what has changed
//! ```
//!
//! Docker writes the whole file anew and loses what it does not know. Here every other member and every other entry
//! stays byte for byte. A new entry is laid out as its neighbours are; without neighbours it gets tabs,
//! as docker writes. An unreadable file is an error and is never overwritten. Reading and writing the file itself, and
//! running the helper, is the caller's part.

mod layout;
mod object;

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::{Zeroize as _, Zeroizing};

use crate::json;
use crate::key::{HUB_V1, is_hub};
use crate::{AuthFile, AuthFileError, HelperName, InvalidHelperName};
use layout::Layout;
use object::EditedObject;
use tofu_oci_types::{JsonKind, JsonValue, Secret};

/// A file after an edit.
///
/// `Debug` hides the bytes, for they hold secrets; they are wiped when they are dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Edit {
    /// What the file is to hold.
    pub bytes: Vec<u8>,
    /// What became of it.
    pub change: EditEffect,
}

/// What an edit has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditEffect {
    /// The server had no entry.
    Added,
    /// The server had another entry.
    Replaced,
    Removed,
    /// The bytes are those that were there; nothing needs to be written.
    Nothing,
}

/// What is to stand under a server's key.
enum Entry {
    Auth(Zeroizing<String>),
    Mark,
}

/// Enters a login in plain text: `auths[server] = {"auth": base64 of USERNAME:PASSWORD}`.
///
/// `file` is `None` if there is no file yet. Everything else under the key is dropped, an identity token too: it belonged
/// to the former login. A byte order mark is dropped with the first change, since neither docker nor
/// `OpenTofu` reads a file with one. A username with a colon cannot be told from its password again; refusing it is
/// the caller's part.
///
/// # Errors
/// If the file is not a docker file: not JSON, not an object, or `auths` is not an object.
///
/// Spec: docker CLI 29, `config/configfile`, `SaveToWriter`, and `config/credentials`, `fileStore.Store`.
pub fn store_login(
    file: Option<&[u8]>,
    server: &str,
    username: &str,
    password: &Secret,
) -> Result<Edit, AuthFileError> {
    let pair = Zeroizing::new(format!("{username}:{}", password.expose()));
    store(file, server, &Entry::Auth(Zeroizing::new(STANDARD.encode(pair.as_bytes()))))
}

/// Enters the mark that a helper holds the login: `auths[server] = {}`. A password that stood there is gone.
///
/// # Errors
/// As [`store_login`].
///
/// Spec: docker CLI 29, `config/credentials`, `nativeStore.Store`.
pub fn store_mark(file: Option<&[u8]>, server: &str) -> Result<Edit, AuthFileError> {
    store(file, server, &Entry::Mark)
}

/// Takes the entries of these servers out. `auths` stays, empty if need be, as docker leaves it.
///
/// # Errors
/// As [`store_login`].
///
/// Spec: docker CLI 29, `config/credentials`, `fileStore.Erase`.
pub fn remove(file: &[u8], servers: &[&str]) -> Result<Edit, AuthFileError> {
    let source = EditedText::read(file)?;
    let layout = source.layout();
    let mut edits = Vec::new();
    for object in &source.auths {
        let kept = object.members.iter().filter(|member| !servers.contains(&member.name.as_str()));
        let kept: Vec<String> = kept.map(|member| source.text[member.span.clone()].to_owned()).collect();
        if kept.len() < object.members.len() {
            edits.push((object.span.clone(), layout.auths(Some(object), kept)));
        }
    }
    Ok(if edits.is_empty() { Edit::nothing(file) } else { Edit::made(source.text, edits, EditEffect::Removed) })
}

/// The helper that `docker login` gives a server's login to: that of `credHelpers[server]`, else the `credsStore`;
/// `None` if the login goes into the file itself, as it also does under an empty name.
///
/// # Errors
/// If the name cannot be a helper's. Docker would run it all the same.
///
/// Spec: docker CLI 29, `config/configfile`, `getConfiguredCredentialStore`.
pub fn helper_for(file: &AuthFile, server: &str) -> Option<Result<HelperName, InvalidHelperName>> {
    let name = file.as_opentofu.helper_name(server).filter(|name| !name.is_empty())?;
    Some(HelperName::parse(name))
}

/// The key under which docker keeps the login of a registry: the registry as it is written, except for the Docker Hub.
///
/// Docker itself knows `docker.io` and `index.docker.io` for the Hub; `registry-1.docker.io`, where the Hub's registry
/// answers, is taken for it here too.
///
/// Spec: docker CLI 29, `config/configfile`, `getAuthConfigKey`.
pub fn server_key(registry: &str) -> String {
    if is_hub(registry) { HUB_V1.to_owned() } else { registry.to_owned() }
}

fn store(file: Option<&[u8]>, server: &str, entry: &Entry) -> Result<Edit, AuthFileError> {
    let bytes = file.unwrap_or_default();
    let source = EditedText::read(bytes)?;
    let layout = source.layout();
    let target = source.target();
    let mut found = 0;
    let mut edits = Vec::new();
    for (position, object) in source.auths.iter().enumerate() {
        let members = &object.members;
        let same: Vec<usize> = (0..members.len()).filter(|index| members[*index].name.as_str() == server).collect();
        found += same.len();
        let is_target = target == EditTarget::Object(position);
        if is_target && found == 1 && same.len() == 1 && entry.is(&members[same[0]].value) {
            return Ok(Edit::nothing(bytes));
        }
        if !is_target && same.is_empty() {
            continue;
        }
        // Docker writes the keys in order. What is there keeps its place; a new key goes before the first greater one.
        let greater = || members.iter().position(|member| member.name.as_str() > server);
        let place = same.last().copied().or_else(greater).unwrap_or(members.len());
        let mut lines = Vec::new();
        for (index, member) in members.iter().enumerate() {
            if is_target && index == place {
                lines.push(layout.entry(Some(object), server, entry.auth()));
            }
            if member.name.as_str() != server {
                lines.push(source.text[member.span.clone()].to_owned());
            }
        }
        if is_target && place == members.len() {
            lines.push(layout.entry(Some(object), server, entry.auth()));
        }
        edits.push((object.span.clone(), layout.auths(Some(object), lines)));
    }
    let alone = || layout.auths(None, vec![layout.entry(None, server, entry.auth())]);
    match target {
        EditTarget::Object(_) => {}
        EditTarget::Null(span) => edits.push((span, alone())),
        EditTarget::Missing => edits.push(source.with_auths(&layout, &Zeroizing::new(alone()))),
    }
    Ok(Edit::made(source.text, edits, if found == 0 { EditEffect::Added } else { EditEffect::Replaced }))
}

/// A file that may be edited.
struct EditedText<'a> {
    /// Without a byte order mark; empty if the file is empty or `null`.
    text: &'a str,
    /// The outermost object.
    top: Option<EditedObject<'a>>,
    /// All values of `auths` that are objects: Go reads them all into one.
    auths: Vec<EditedObject<'a>>,
    /// The position of a `null` after them, which empties what was read before.
    null: Option<Range<usize>>,
}

/// Where an entry counts.
#[derive(PartialEq)]
enum EditTarget {
    Object(usize),
    Null(Range<usize>),
    Missing,
}

impl<'a> EditedText<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, AuthFileError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| shape("it is not UTF-8"))?;
        let mut source = Self { text: "", top: None, auths: Vec::new(), null: None };
        if text.trim_ascii().is_empty() {
            return Ok(source);
        }
        let top = json::parse(text).map_err(|fault| AuthFileError::NotJson {
            file: FILE.to_owned(),
            line: fault.line,
            column: fault.column,
            reason: fault.message,
        })?;
        match top.kind {
            JsonKind::Object(_) => {}
            JsonKind::Null => return Ok(source),
            _ => return Err(shape("it is not an object")),
        }
        for member in top.members().iter().filter(|member| member.is_named("auths")) {
            match member.value.kind {
                JsonKind::Object(_) => {
                    source.auths.push(EditedObject::of(text, &member.value));
                    source.null = None;
                }
                JsonKind::Null => source.null = Some(member.value.span.clone()),
                _ => return Err(shape("its `auths` is not an object")),
            }
        }
        source.text = text;
        source.top = Some(EditedObject::of(text, &top));
        Ok(source)
    }

    fn target(&self) -> EditTarget {
        match (&self.null, self.auths.len()) {
            (Some(null), _) => EditTarget::Null(null.clone()),
            (None, 0) => EditTarget::Missing,
            (None, count) => EditTarget::Object(count - 1),
        }
    }

    fn layout(&self) -> Layout {
        self.top.as_ref().and_then(|top| top.lead).map_or_else(Layout::docker, Layout::of)
    }

    /// The edit that puts a new `auths` in front of the other members, where docker has it.
    fn with_auths(&self, layout: &Layout, auths: &str) -> (Range<usize>, String) {
        match &self.top {
            None => (0..0, layout.file(auths)),
            Some(EditedObject { lead: Some(lead), span, .. }) => {
                let after_brace = span.start + 1;
                (after_brace..after_brace, layout.first_member(lead, auths))
            }
            Some(empty) => (empty.span.clone(), layout.file(auths)),
        }
    }
}

const FILE: &str = "the file";

fn shape(problem: &'static str) -> AuthFileError {
    AuthFileError::Shape { file: FILE.to_owned(), problem }
}

impl Entry {
    fn auth(&self) -> Option<&str> {
        match self {
            Self::Auth(auth) => Some(auth),
            Self::Mark => None,
        }
    }

    /// Whether the value says this and nothing else.
    fn is(&self, value: &JsonValue<'_>) -> bool {
        match (self, value.members()) {
            (Self::Mark, []) => matches!(value.kind, JsonKind::Object(_)),
            (Self::Auth(auth), [member]) => {
                member.is_named("auth") && member.value.text().is_some_and(|text| text == *auth)
            }
            _ => false,
        }
    }
}

impl Edit {
    fn nothing(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), change: EditEffect::Nothing }
    }

    /// The text with these parts exchanged. No two of them overlap.
    fn made(text: &str, mut edits: Vec<(Range<usize>, String)>, change: EditEffect) -> Self {
        edits.sort_by_key(|(span, _)| span.start);
        // All at once, so that the buffer does not grow and leave a copy of a secret.
        let mut bytes = Vec::with_capacity(text.len() + edits.iter().map(|(_, new)| new.len()).sum::<usize>());
        let mut at = 0;
        for (span, new) in &mut edits {
            bytes.extend_from_slice(&text.as_bytes()[at..span.start]);
            bytes.extend_from_slice(new.as_bytes());
            new.zeroize();
            at = span.end;
        }
        bytes.extend_from_slice(&text.as_bytes()[at..]);
        Self { bytes, change }
    }
}

impl Drop for Edit {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl std::fmt::Debug for Edit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edit").field("bytes", &"***").field("change", &self.change).finish()
    }
}

#[cfg(test)]
mod tests;

//! Bytes to an [`AuthFile`].

use std::borrow::Cow;
use std::collections::HashMap;

use zeroize::Zeroizing;

use super::{Auth, AuthEntry, AuthFile, AuthFileError, FileWarning, NamedHelper, OpenTofuEffect};
use crate::entry::{NOT_TEXT, Remark};
use crate::json::{Document, Kind, Member, Piece};
use crate::key::shown;
use crate::opentofu;

/// Reads a file as Go's encoding/json fills `OpenTofu`'s structure; what stops that only leaves out a part here.
pub(super) fn file(name: &str, bytes: &[u8]) -> Result<AuthFile, AuthFileError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(AuthFileError::Shape { file: name.to_owned(), problem: "it is UTF-16 and must be UTF-8" });
    }
    let mut reading = Reading::of(name, opentofu::Reading::of(bytes));
    let body = bytes.strip_prefix(b"\xef\xbb\xbf");
    if body.is_some() {
        reading.warn(None, "it begins with a byte order mark".to_owned(), OpenTofuEffect::AllFilesOff);
    }
    // What is no UTF-8 becomes U+FFFD, as in Go: in a text it is harmless, elsewhere it is wrong syntax.
    let replaced;
    let text = match String::from_utf8_lossy(body.unwrap_or(bytes)) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => {
            replaced = Zeroizing::new(text);
            replaced.as_str()
        }
    };
    let (document, whole) = Document::parse(text).map_err(|fault| AuthFileError::NotJson {
        file: name.to_owned(),
        line: fault.line,
        column: fault.column,
        reason: fault.reason,
    })?;
    match whole.kind() {
        Kind::Null => {}
        Kind::Object => reading.members(&document, whole),
        _ => return Err(AuthFileError::Shape { file: name.to_owned(), problem: "it is not an object" }),
    }
    Ok(reading.done())
}

struct Reading {
    file: AuthFile,
    auths: ByKey<AuthEntry>,
    helpers: ByKey<NamedHelper>,
}

/// Values in their order; of those of one key the last.
struct ByKey<T> {
    values: Vec<Option<T>>,
    positions: HashMap<String, usize>,
}

impl<T> ByKey<T> {
    fn new() -> Self {
        Self { values: Vec::new(), positions: HashMap::new() }
    }

    fn put(&mut self, key: &str, value: T) {
        if let Some(earlier) = self.positions.insert(key.to_owned(), self.values.len()) {
            self.values[earlier] = None;
        }
        self.values.push(Some(value));
    }
}

impl Reading {
    fn of(name: &str, as_opentofu: opentofu::Reading) -> Self {
        let file = AuthFile {
            name: name.to_owned(),
            auths: Vec::new(),
            helpers: Vec::new(),
            store: None,
            as_opentofu: Box::new(as_opentofu),
            warnings: Vec::new(),
        };
        Self { file, auths: ByKey::new(), helpers: ByKey::new() }
    }

    fn done(mut self) -> AuthFile {
        self.file.auths = self.auths.values.into_iter().flatten().collect();
        self.file.helpers = self.helpers.values.into_iter().flatten().collect();
        self.file
    }

    /// A member that is there twice adds to itself; `null` takes back an object and leaves a text as it is.
    fn members(&mut self, document: &Document<'_>, whole: Piece<'_>) {
        for member in whole.members() {
            if member.is_named("auths") {
                match member.value.kind() {
                    Kind::Null => self.auths = ByKey::new(),
                    Kind::Object => {
                        for entry in member.value.members() {
                            self.auth(document.line_of(&entry), &entry);
                        }
                    }
                    _ => self.left_out(document.line_of(&member), "its `auths` is not an object"),
                }
            } else if member.is_named("credHelpers") {
                match member.value.kind() {
                    Kind::Null => self.helpers = ByKey::new(),
                    Kind::Object => {
                        for entry in member.value.members() {
                            self.helper(document.line_of(&entry), &entry);
                        }
                    }
                    _ => self.left_out(document.line_of(&member), "its `credHelpers` is not an object"),
                }
            } else if member.is_named("credsStore") {
                let line = document.line_of(&member);
                match (member.value.kind(), member.value.text()) {
                    (Kind::Null, _) => {}
                    (_, Some(name)) => {
                        self.file.store = Some(NamedHelper { key: String::new(), line, name: name.to_string() });
                    }
                    (_, None) => self.left_out(line, "its `credsStore` is not text"),
                }
            }
        }
    }

    fn auth(&mut self, line: usize, member: &Member<'_>) {
        let key = member.key();
        let mut remarks = Vec::new();
        let entry = AuthEntry::read(key.to_string(), line, member.value, &mut |remark| remarks.push(remark));
        let about = |problem: &str| format!("its entry for {} is left out: {problem}", shown(&key));
        for remark in remarks {
            match remark {
                Remark::BrokenAuth(problem) => {
                    self.warn(Some(line), about(problem), OpenTofuEffect::AllFilesOff);
                }
                Remark::IdentityToken => {
                    let problem = format!("the `identitytoken` of {} is not text and left out", shown(&key));
                    self.warn(Some(line), problem, OpenTofuEffect::Nothing);
                }
            }
        }
        if entry.auth == Auth::NotText {
            self.warn(Some(line), about(NOT_TEXT), OpenTofuEffect::Nothing);
        }
        self.auths.put(&key, entry);
    }

    fn helper(&mut self, line: usize, member: &Member<'_>) {
        let key = member.key();
        let name = match (member.value.kind(), member.value.text()) {
            (Kind::Null, _) => String::new(),
            (_, Some(name)) => name.to_string(),
            (_, None) => {
                let problem = format!("its helper for {} is left out: it is not text", shown(&key));
                self.warn(Some(line), problem, OpenTofuEffect::AllFilesOff);
                return;
            }
        };
        self.helpers.put(&key, NamedHelper { key: key.to_string(), line, name });
    }

    fn left_out(&mut self, line: usize, problem: &str) {
        self.warn(Some(line), format!("{problem} and is left out"), OpenTofuEffect::AllFilesOff);
    }

    fn warn(&mut self, line: Option<usize>, problem: String, opentofu: OpenTofuEffect) {
        self.file.warnings.push(FileWarning { file: self.file.name.clone(), line, problem, opentofu });
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// What is read of a file: its entries, helpers and warnings; or the error.
    fn read(bytes: &[u8]) -> String {
        let file = match AuthFile::parse("a.json", bytes) {
            Ok(file) => file,
            Err(error) => return error.to_string(),
        };
        let mut lines = Vec::new();
        for entry in &file.auths {
            let auth = match &entry.auth {
                Auth::Pair { username, password } => format!("{username}:{}", password.expose()),
                other => format!("{other:?}"),
            };
            lines.push(format!("{} {} = {auth}", entry.line, entry.key));
        }
        for helper in file.helpers.iter().chain(&file.store) {
            lines.push(format!("{} helper {} = {}", helper.line, helper.key, helper.name));
        }
        for warning in file.warnings() {
            lines.push(format!("{warning} ({:?})", warning.opentofu));
        }
        lines.join("\n")
    }

    #[test]
    fn what_says_nothing_is_fine() {
        for text in [
            "{}",
            "null",
            " { } \n",
            r#"{"auths": null}"#,
            r#"{"auths": {}}"#,
            r#"{"credHelpers": null, "credsStore": null}"#,
            r#"{"HttpHeaders": {"X": "y"}, "proxies": [], "detachKeys": 5, "a\ud800": "\ud800"}"#,
            r#"{"registry.example.test": {"auth": "dTpw"}}"#,
        ] {
            assert_eq!(read(text.as_bytes()), "", "{text}");
        }
        assert_eq!(read(b"{\"HttpHeaders\": \"\xfc\"}"), "");
    }

    #[test]
    fn entries_have_their_line() {
        let text = r#"{
  "auths": {
    "ghcr.io": { "auth": "dTpw" },
    "quay.io": null,
    "r.test/a": {}
  },
  "credHelpers": {
    "e.test": "one",
    "f.test": null, "g.test": ""
  },
  "credsStore":
    "store"
}"#;
        assert_snapshot!(read(text.as_bytes()), @"
        3 ghcr.io = u:p
        4 quay.io = Absent
        5 r.test/a = Absent
        8 helper e.test = one
        9 helper f.test = 
        9 helper g.test = 
        11 helper  = store
        ");
    }

    #[test]
    fn what_is_there_twice_counts_as_in_go() {
        let twice = r#"{"auths": {"a": {"auth": "dTpw"}, "b": {"auth": "dTpw"}}, "AUTHS": {"a": {"auth": "eDp5"}},
            "credHelpers": {"c": "one", "c": null}, "CredHelpers": {"d": "two"}, "credsStore": "x", "CREDSSTORE": null}"#;
        assert_snapshot!(read(twice.as_bytes()), @"
        1 b = u:p
        1 a = x:y
        2 helper c = 
        2 helper d = two
        2 helper  = x
        ");
        assert_eq!(read(br#"{"auths": {"a": {"auth": "dTpw"}}, "auths": null}"#), "");
        assert_eq!(read(br#"{"auths": {"a": {"auth": "dTpw"}, "a": null}}"#), "1 a = Absent");
        assert_eq!(read(br#"{"credsStore": "a", "credsStore": "b"}"#), "1 helper  = b");
    }

    #[test]
    fn a_file_that_is_no_credential_file_is_an_error_with_its_place() {
        assert_snapshot!(read(b""), @"a.json is not JSON: it is empty at line 1, column 1");
        assert_snapshot!(read(b"not json"), @"a.json is not JSON: this is no value at line 1, column 2");
        assert_snapshot!(read(b"{"), @"a.json is not JSON: it ends in the middle at line 1, column 1");
        assert_snapshot!(read(b"{\"auths\":{},}"), @"a.json is not JSON: there is a comma too many at line 1, column 13");
        assert_snapshot!(read(b"{\n} x"), @"a.json is not JSON: something follows the end at line 2, column 3");
        assert_snapshot!(read(b"{\"auths\": {\n \"a\": {\"auth\": \"dTpw\",}}}"), @"a.json is not JSON: there is a comma too many at line 2, column 23");
        assert_snapshot!(read(b"[]"), @"a.json is not a credential file: it is not an object");
        assert_snapshot!(read(b"\"hunter2\""), @"a.json is not a credential file: it is not an object");
        assert_snapshot!(read(b"\xff\xfe{\0}\0"), @"a.json is not a credential file: it is UTF-16 and must be UTF-8");
        assert_snapshot!(read(b"\0"), @"a.json is not JSON: this is no value at line 1, column 1");
        assert_snapshot!(read(b"\xfc{}"), @"a.json is not JSON: this is no value at line 1, column 1");
    }

    #[test]
    fn a_broken_part_does_not_hide_the_others() {
        assert_snapshot!(read("\u{feff}{\"auths\": {\"a\": {\"auth\": \"dTpw\"}}}".as_bytes()), @"
        1 a = u:p
        a.json: it begins with a byte order mark (AllFilesOff)
        ");
        assert_snapshot!(read(b"{\"auths\": [],\n\"credHelpers\": 5,\n\"credsStore\": 1, \"auths\": {\"a\": {}}}"), @"
        3 a = Absent
        a.json:1: its `auths` is not an object and is left out (AllFilesOff)
        a.json:2: its `credHelpers` is not an object and is left out (AllFilesOff)
        a.json:3: its `credsStore` is not text and is left out (AllFilesOff)
        ");
        let entries = r#"{"auths": {
            "number": {"auth": 5},
            "text": "dTpw",
            "base64": {"auth": "%%%"},
            "latin1": {"auth": "dTr8"},
            "token": {"auth": "dTpw", "identitytoken": []},
            "https://me:hunter2@host/": {"auth": "dXM_cjpw"},
            "good": {"auth": "dTpw"}},
            "credHelpers": {"h": 5, "i": "two"}}"#;
        assert_snapshot!(read(entries.as_bytes()), @"
        2 number = Broken(\"its `auth` is not text\")
        3 text = Broken(\"it is not an object\")
        4 base64 = Broken(\"its `auth` is not base64\")
        5 latin1 = NotText
        6 token = u:p
        7 https://me:hunter2@host/ = Broken(\"its `auth` is base64 with `-` and `_` instead of `+` and `/`\")
        8 good = u:p
        9 helper i = two
        a.json:2: its entry for number is left out: its `auth` is not text (AllFilesOff)
        a.json:3: its entry for text is left out: it is not an object (AllFilesOff)
        a.json:4: its entry for base64 is left out: its `auth` is not base64 (AllFilesOff)
        a.json:5: its entry for latin1 is left out: its `auth` is not UTF-8 (Nothing)
        a.json:6: the `identitytoken` of token is not text and left out (Nothing)
        a.json:7: its entry for https://***@host/ is left out: its `auth` is base64 with `-` and `_` instead of `+` and `/` (AllFilesOff)
        a.json:9: its helper for h is left out: it is not text (AllFilesOff)
        ");
    }

    #[test]
    fn the_first_reason_why_opentofu_reads_nothing_is_told() {
        let file = AuthFile::parse("a.json", br#"{"auths": {"a": {"identitytoken": 1}, "b": 1, "c": 2}}"#);
        let off = file.as_ref().expect("a file").off().map(|warning| warning.problem.as_str());
        assert_eq!(off, Some("its entry for b is left out: it is not an object"));
        assert_eq!(AuthFile::parse("a.json", b"{}").expect("a file").off(), None);
    }
}

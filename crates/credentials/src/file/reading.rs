//! Bytes to an [`AuthFile`].

use std::collections::HashMap;

use super::{AuthEntry, AuthFile, AuthFileError, EntryAuth, FileWarning, NamedHelper, OpenTofuEffect};
use crate::decoded::{DecodeFault, Decoded, DecodedEntry, DecodedFile, DecodedHelper, DecodedSection, SectionContent};
use crate::entry::{EntryRemark, NOT_TEXT};
use crate::key::shown;
use crate::opentofu_file::OpenTofuFile;

impl AuthFile {
    /// Reads a file's bytes. `name` names the file in messages. Go's encoding/json fills `OpenTofu`'s structure alike, but what stops
    /// `OpenTofu` only leaves out a part here.
    ///
    /// # Errors
    /// If the file as a whole is not a credential file. A broken entry is a warning: see [`AuthFile::warnings`].
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, AuthFileError> {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(AuthFileError::Shape { file: name.to_owned(), problem: "it is UTF-16 and must be UTF-8" });
        }
        let decoded = DecodedFile::of(bytes);
        let mut reader = FileReader::of(name, OpenTofuFile::of(&decoded));
        if decoded.has_byte_order_mark {
            reader.warn(None, "it begins with a byte order mark".to_owned(), OpenTofuEffect::AllFilesOff);
        }
        if let Some(mistaken) = decoded.mistaken {
            reader.warn(None, mistaken.to_owned(), OpenTofuEffect::Nothing);
        }
        let sections = decoded.sections.map_err(|fault| match fault {
            DecodeFault::NotJson { line, column, reason } => {
                AuthFileError::NotJson { file: name.to_owned(), line, column, reason }
            }
            DecodeFault::NotObject { .. } => {
                AuthFileError::Shape { file: name.to_owned(), problem: "it is not an object" }
            }
        })?;
        for section in sections {
            reader.section(section);
        }
        Ok(reader.done())
    }
}

struct FileReader {
    file: AuthFile,
    auths: ByKey<AuthEntry>,
    helpers: ByKey<NamedHelper>,
}

/// Values in their order; the last one of each key counts.
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

impl FileReader {
    fn of(name: &str, as_opentofu: OpenTofuFile) -> Self {
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

    /// A second member of one name adds to the first; `null` empties an object and leaves a text as it is.
    fn section(&mut self, DecodedSection { line, content }: DecodedSection) {
        match content {
            SectionContent::Auths(Decoded::Null) => self.auths = ByKey::new(),
            SectionContent::Auths(Decoded::Valid(entries)) => {
                for entry in entries {
                    self.auth(entry);
                }
            }
            SectionContent::Auths(Decoded::Invalid) => self.left_out(line, "its `auths` is not an object"),
            SectionContent::Helpers(Decoded::Null) => self.helpers = ByKey::new(),
            SectionContent::Helpers(Decoded::Valid(entries)) => {
                for entry in entries {
                    self.helper(entry);
                }
            }
            SectionContent::Helpers(Decoded::Invalid) => {
                self.left_out(line, "its `credHelpers` is not an object");
            }
            SectionContent::Store(Decoded::Null) => {}
            SectionContent::Store(Decoded::Valid(name)) => {
                self.file.store = Some(NamedHelper { key: String::new(), line, name: name.to_string() });
            }
            SectionContent::Store(Decoded::Invalid) => self.left_out(line, "its `credsStore` is not text"),
        }
    }

    fn auth(&mut self, decoded: DecodedEntry) {
        let (key, line) = (decoded.key.clone(), decoded.line);
        let mut remarks = Vec::new();
        let entry = AuthEntry::of(decoded, &mut |remark| remarks.push(remark));
        let about = |problem: &str| format!("its entry for {} is left out: {problem}", shown(&key));
        for remark in remarks {
            match remark {
                EntryRemark::BrokenAuth(problem) => {
                    self.warn(Some(line), about(problem), OpenTofuEffect::AllFilesOff);
                }
                EntryRemark::IdentityToken => {
                    let problem = format!("the `identitytoken` of {} is not text and left out", shown(&key));
                    self.warn(Some(line), problem, OpenTofuEffect::Nothing);
                }
            }
        }
        if entry.auth == EntryAuth::NotText {
            self.warn(Some(line), about(NOT_TEXT), OpenTofuEffect::Nothing);
        }
        self.auths.put(&key, entry);
    }

    fn helper(&mut self, DecodedHelper { key, line, name }: DecodedHelper) {
        let name = match name {
            Decoded::Null => String::new(),
            Decoded::Valid(name) => name.to_string(),
            Decoded::Invalid => {
                let problem = format!("its helper for {} is left out: it is not text", shown(&key));
                return self.warn(Some(line), problem, OpenTofuEffect::AllFilesOff);
            }
        };
        self.helpers.put(&key.clone(), NamedHelper { key, line, name });
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
                EntryAuth::Pair { username, password } => format!("{username}:{}", password.expose()),
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
        ] {
            assert_eq!(read(text.as_bytes()), "", "{text}");
        }
        assert_eq!(read(b"{\"HttpHeaders\": \"\xfc\"}"), "");
    }

    #[test]
    fn a_file_of_another_form_was_said_to_hold_no_credentials() {
        let dockercfg = "a.json: it has the form of an old `.dockercfg`, and holds no credentials that count; its entries \
                         belong below `auths` (Nothing)";
        for text in [
            r#"{"registry.example.test": {"auth": "dTpw"}}"#,
            r#"{"registry.example.test": {"username": "u", "password": "p", "email": "e"}}"#,
        ] {
            assert_eq!(read(text.as_bytes()), dockercfg, "{text}");
        }
        let secret = "a.json: it is a Secret of Kubernetes; the credential file is what `.dockerconfigjson` in it is the \
                      base64 of (Nothing)";
        for text in
            [r#"{"kind": "Secret", "data": {".dockerconfigjson": "e30="}}"#, r#"{".dockerconfigjson": {"auths": {}}}"#]
        {
            assert_eq!(read(text.as_bytes()), secret, "{text}");
        }
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

//! One entry of `auths`.

use crate::Credential;
use crate::decoded::{AuthFault, Decoded, DecodedEntry, EntryField};
use tofu_oci_types::Secret;

/// One entry of `auths`.
#[derive(Clone)]
pub(crate) struct AuthEntry {
    /// The key as written. It may contain a secret as user information.
    pub(crate) key: String,
    /// From 1.
    pub(crate) line: usize,
    /// What `OpenTofu` reads.
    pub(crate) auth: EntryAuth,
    /// What it ignores: `identitytoken`, not empty.
    pub(crate) identity: Option<Secret>,
    /// Whether a `password` stands beside them.
    pub(crate) has_password: bool,
}

/// The `auth` of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryAuth {
    /// None, or an empty one.
    Absent,
    /// Split at the first colon; either may be empty.
    Pair { username: String, password: Secret },
    /// No colon in it.
    WithoutColon,
    /// The entry is not an object, or its `auth` cannot be decoded. `OpenTofu` then reads no ambient file at all.
    Broken(&'static str),
    /// `username:password` that is not UTF-8. `OpenTofu` sends the bytes.
    NotText,
}

/// What an entry is worth here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryValue {
    /// The mark that `docker login` leaves if a helper keeps the login.
    Mark,
    /// It is broken and counts as absent.
    LeftOut(&'static str),
    /// Its `auth` has no colon.
    WithoutColon,
    /// An empty name and an empty password: anonymous.
    Nothing,
    Credential(Credential),
}

/// What is wrong with an entry, beside its `auth` and `identity`.
pub(crate) enum EntryRemark {
    /// An invalid `auth`; a later one of the same entry may be valid.
    BrokenAuth(&'static str),
    /// `identitytoken` is not text.
    IdentityToken,
}

impl AuthEntry {
    /// An entry as it counts here; `remark` receives what is wrong with it.
    pub(crate) fn of(decoded: DecodedEntry, remark: &mut dyn FnMut(EntryRemark)) -> Self {
        let mut entry =
            Self { key: decoded.key, line: decoded.line, auth: EntryAuth::Absent, identity: None, has_password: false };
        match decoded.fields {
            Decoded::Null => {}
            Decoded::Valid(fields) => fields.into_iter().for_each(|field| entry.take(field, remark)),
            Decoded::Invalid => {
                entry.auth = EntryAuth::Broken("it is not an object");
                remark(EntryRemark::BrokenAuth("it is not an object"));
            }
        }
        entry
    }

    fn take(&mut self, field: EntryField, remark: &mut dyn FnMut(EntryRemark)) {
        match field {
            EntryField::Auth { bytes: Ok(bytes), .. } => self.auth = EntryAuth::split(&bytes),
            EntryField::Auth { bytes: Err(fault), .. } => {
                let problem = problem(fault);
                self.auth = EntryAuth::Broken(problem);
                remark(EntryRemark::BrokenAuth(problem));
            }
            EntryField::Password => self.has_password = true,
            EntryField::IdentityToken(Decoded::Null) => {}
            EntryField::IdentityToken(Decoded::Valid(token)) => self.identity = identity(&token),
            EntryField::IdentityToken(Decoded::Invalid) => remark(EntryRemark::IdentityToken),
        }
    }

    /// What counts: `auth` if it has a password, as in `OpenTofu`; otherwise `identitytoken`, which the logins of some
    /// registries write beside a name without a password.
    pub(crate) fn held(&self) -> EntryValue {
        match (&self.auth, &self.identity) {
            (EntryAuth::Broken(problem), _) => EntryValue::LeftOut(problem),
            (EntryAuth::NotText, _) => EntryValue::LeftOut(NOT_TEXT),
            (EntryAuth::WithoutColon, _) => EntryValue::WithoutColon,
            (EntryAuth::Pair { username, password }, _) if !password.is_empty() => {
                EntryValue::Credential(Credential::Basic { username: username.clone(), password: password.clone() })
            }
            (_, Some(token)) => EntryValue::Credential(Credential::IdentityToken(token.clone())),
            (EntryAuth::Absent, None) => EntryValue::Mark,
            (EntryAuth::Pair { username, .. }, None) if username.is_empty() => EntryValue::Nothing,
            (EntryAuth::Pair { username, .. }, None) => {
                EntryValue::Credential(Credential::basic(username.as_str(), ""))
            }
        }
    }
}

/// Why a name and password that are not UTF-8 are left out.
pub(crate) const NOT_TEXT: &str = "its `auth` is not UTF-8";

fn identity(token: &str) -> Option<Secret> {
    (!token.is_empty()).then(|| Secret::new(token))
}

impl EntryAuth {
    fn split(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::Absent;
        }
        if !bytes.contains(&b':') {
            return Self::WithoutColon;
        }
        let text = std::str::from_utf8(bytes).ok();
        text.and_then(|text| text.split_once(':')).map_or(Self::NotText, |(username, password)| Self::Pair {
            username: username.to_owned(),
            password: Secret::new(password),
        })
    }
}

/// Why an `auth` is left out.
fn problem(fault: AuthFault) -> &'static str {
    match fault {
        AuthFault::NotText => "its `auth` is not text",
        AuthFault::ListOfOthers => "its `auth` is a list of other things than bytes",
        AuthFault::Unpadded => "its `auth` is base64 without the `=` at its end",
        AuthFault::UrlAlphabet => "its `auth` is base64 with `-` and `_` instead of `+` and `/`",
        AuthFault::Blanks => "its `auth` has blanks in it",
        AuthFault::NotBase64 => "its `auth` is not base64",
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;
    use crate::decoded::{DecodedFile, SectionContent};

    fn entry(json: &str) -> (AuthEntry, usize) {
        let mut file = DecodedFile::of(format!(r#"{{"auths": {{"ghcr.io": {json}}}}}"#).as_bytes());
        let section = file.sections.as_mut().ok().and_then(Vec::pop).expect("JSON");
        let SectionContent::Auths(Decoded::Valid(mut entries)) = section.content else { panic!("not `auths`") };
        let mut remarks = 0;
        let entry = AuthEntry::of(entries.pop().expect("an entry"), &mut |_| remarks += 1);
        (entry, remarks)
    }

    /// The credential of an entry as `USER:PASSWORD`, or what else it is worth.
    #[track_caller]
    fn check(json: &str, want: &str) {
        let (entry, remarks) = entry(json);
        let got = match entry.held() {
            EntryValue::Mark => "mark".to_owned(),
            EntryValue::LeftOut(problem) => format!("left out: {problem}"),
            EntryValue::WithoutColon => "without colon".to_owned(),
            EntryValue::Nothing => "nothing".to_owned(),
            EntryValue::Credential(Credential::Basic { username, password }) => {
                format!("{username}:{}", password.expose())
            }
            EntryValue::Credential(Credential::IdentityToken(token)) => format!("identity token {}", token.expose()),
            EntryValue::Credential(Credential::RegistryToken(_)) => "registry token".to_owned(),
        };
        assert_eq!(got, want, "{json}");
        assert_eq!(remarks > 0, want.starts_with("left out") && want != "left out: its `auth` is not UTF-8", "{json}");
    }

    fn of_bytes(bytes: &[u8]) -> String {
        format!(r#"{{"auth": "{}"}}"#, base64::engine::general_purpose::STANDARD.encode(bytes))
    }

    #[test]
    fn auth_is_split_at_the_first_colon_and_kept_as_it_is() {
        check(&of_bytes(b"user:pass"), "user:pass");
        check(&of_bytes(b"user:p:w:x"), "user:p:w:x");
        check(&of_bytes("üser:pä ss".as_bytes()), "üser:pä ss");
        check(&of_bytes(b" user : pw "), " user : pw ");
        check(&of_bytes(b"user:pw\0"), "user:pw\0");
        check(&of_bytes(b"user:pw\n"), "user:pw\n");
        check(&of_bytes(b"<token>:idt"), "<token>:idt");
        check(&of_bytes(b"user:"), "user:");
        check(&of_bytes(b":pw"), ":pw");
        check(&of_bytes(b":"), "nothing");
        check(&of_bytes(b"userpw"), "without colon");
        check(&of_bytes(b"user:\xfc"), "left out: its `auth` is not UTF-8");
        check(&of_bytes(b"\xfc"), "without colon");
    }

    #[test]
    fn what_is_absent_is_a_mark() {
        for json in ["null", "{}", r#"{"auth": null}"#, r#"{"auth": ""}"#, r#"{"auth": "\r\n"}"#, r#"{"auth": []}"#] {
            check(json, "mark");
        }
        check(r#"{"username": "u", "password": "p", "registrytoken": "t", "email": "e"}"#, "mark");
        check(r#"{"auth": "dTpw", "auth": null}"#, "mark");
    }

    #[test]
    fn broken_entries_are_left_out() {
        for json in ["[]", "\"dTpw\"", "5", "true"] {
            check(json, "left out: it is not an object");
        }
        for json in [r#"{"auth": 5}"#, r#"{"auth": {}}"#, r#"{"auth": true}"#] {
            check(json, "left out: its `auth` is not text");
        }
        check(r#"{"auth": "%%%"}"#, "left out: its `auth` is not base64");
        check(r#"{"auth": "dTpw="}"#, "left out: its `auth` is not base64");
        check(r#"{"auth": "dXNlcjpwdw"}"#, "left out: its `auth` is base64 without the `=` at its end");
        check(
            r#"{"auth": "dXM_cjpwPj5-w78_"}"#,
            "left out: its `auth` is base64 with `-` and `_` instead of `+` and `/`",
        );
        check(r#"{"auth": " dXNlcjpwdw=="}"#, "left out: its `auth` has blanks in it");
        check(r#"{"auth": "dXNl cjpwdw=="}"#, "left out: its `auth` has blanks in it");
        check(r#"{"auth": [117, 58, 256]}"#, "left out: its `auth` is a list of other things than bytes");
        check(r#"{"auth": ["u"]}"#, "left out: its `auth` is a list of other things than bytes");
        check(r#"{"auth": [1.0]}"#, "left out: its `auth` is a list of other things than bytes");
    }

    #[test]
    fn forms_that_go_reads() {
        check("{\"auth\": \"dXNlcjpw\\r\\ndy1sb25nLWVub3VnaA==\\n\"}", "user:pw-long-enough");
        check(r#"{"auth": [117, 58, 112]}"#, "u:p");
        check(r#"{"AUTH": "dTpw"}"#, "u:p");
        check(r#"{"auth": "dTpw", "Auth": "eDp5"}"#, "x:y");
        check(r#"{"\u0061uth": "\u0064Tpw"}"#, "u:p");
        // The decoder ignores the bits after the last byte.
        check(r#"{"auth": "dXNlcjpwdx=="}"#, "user:pw");
    }

    #[test]
    fn an_identity_token_counts_where_auth_has_no_password() {
        let with = |auth: &str| format!(r#"{{"auth": "{auth}", "identitytoken": "idt"}}"#);
        check(r#"{"identitytoken": "idt"}"#, "identity token idt");
        check(r#"{"IdentityToken": "idt", "auth": null}"#, "identity token idt");
        check(&with("MDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAwOg=="), "identity token idt");
        check(&with("dXNlcjo="), "identity token idt");
        check(&with("Og=="), "identity token idt");
        check(&with("dTpw"), "u:p");
        check(&with("OnB3"), ":pw");
        check(&with("dXNlcnB3"), "without colon");
        check(r#"{"identitytoken": ""}"#, "mark");
        check(r#"{"identitytoken": null, "auth": "dTpw"}"#, "u:p");
    }

    #[test]
    fn an_identity_token_of_another_kind_is_remarked_and_ignored() {
        let (entry, remarks) = entry(r#"{"identitytoken": 5, "auth": "dTpw"}"#);
        assert_eq!((entry.held(), remarks), (EntryValue::Credential(Credential::basic("u", "p")), 1));
    }
}

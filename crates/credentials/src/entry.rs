//! One entry of `auths`.

use base64::Engine as _;
use zeroize::Zeroizing;

use crate::Credential;
use crate::json::{BASE64, Kind, Piece};
use tofu_oci_types::Secret;

/// One entry of `auths`.
#[derive(Clone)]
pub(crate) struct AuthEntry {
    /// The key as written. It may hold a secret where somebody wrote user information.
    pub(crate) key: String,
    /// From 1.
    pub(crate) line: usize,
    /// What `OpenTofu` reads.
    pub(crate) auth: Auth,
    /// What it ignores: `identitytoken`, not empty.
    pub(crate) identity: Option<Secret>,
}

/// The `auth` of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// None, or an empty one.
    Absent,
    /// Split at the first colon; either may be empty.
    Pair { username: String, password: Secret },
    /// No colon in it.
    WithoutColon,
    /// The entry is no object, or its `auth` cannot be decoded. `OpenTofu` then reads no ambient file at all.
    Broken(&'static str),
    /// `username:password` that is no UTF-8. `OpenTofu` sends the bytes.
    NotText,
}

/// What an entry is worth here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing: the mark that `docker login` leaves where a helper holds the login.
    Mark,
    /// It is broken and counts as absent.
    LeftOut(&'static str),
    /// Its `auth` has no colon.
    WithoutColon,
    /// An empty name and an empty password: anonymous.
    Nothing,
    /// A credential.
    Credential(Credential),
}

/// What was found in an entry that its `auth` and `identity` do not tell.
pub(crate) enum Remark {
    /// An `auth` that is broken; a later one of the same entry may be sound.
    BrokenAuth(&'static str),
    /// `identitytoken` is no text.
    IdentityToken,
}

impl AuthEntry {
    /// Reads the value of an entry; `remark` hears what is wrong with it.
    pub(crate) fn read(key: String, line: usize, value: Piece<'_>, remark: &mut dyn FnMut(Remark)) -> Self {
        let mut entry = Self { key, line, auth: Auth::Absent, identity: None };
        match value.kind() {
            Kind::Null => {}
            Kind::Object => {
                for member in value.members() {
                    if member.is_named("auth") {
                        entry.auth = Auth::read(member.value);
                        if let Auth::Broken(problem) = entry.auth {
                            remark(Remark::BrokenAuth(problem));
                        }
                    } else if member.is_named("identitytoken") {
                        match (member.value.kind(), member.value.text()) {
                            (Kind::Null, _) => {}
                            (_, Some(token)) => entry.identity = identity(&token),
                            (_, None) => remark(Remark::IdentityToken),
                        }
                    }
                }
            }
            _ => {
                entry.auth = Auth::Broken("it is not an object");
                remark(Remark::BrokenAuth("it is not an object"));
            }
        }
        entry
    }

    /// What counts of it: `auth` where it has a password, as in `OpenTofu`; otherwise `identitytoken`, which some
    /// registries' logins write beside a name without a password.
    pub(crate) fn held(&self) -> Held {
        match (&self.auth, &self.identity) {
            (Auth::Broken(problem), _) => Held::LeftOut(problem),
            (Auth::NotText, _) => Held::LeftOut(NOT_TEXT),
            (Auth::WithoutColon, _) => Held::WithoutColon,
            (Auth::Pair { username, password }, _) if !password.is_empty() => {
                Held::Credential(Credential::Basic { username: username.clone(), password: password.clone() })
            }
            (_, Some(token)) => Held::Credential(Credential::IdentityToken(token.clone())),
            (Auth::Absent, None) => Held::Mark,
            (Auth::Pair { username, .. }, None) if username.is_empty() => Held::Nothing,
            (Auth::Pair { username, .. }, None) => Held::Credential(Credential::basic(username.as_str(), "")),
        }
    }
}

/// Why a name and password that are no UTF-8 are left out.
pub(crate) const NOT_TEXT: &str = "its `auth` is not UTF-8";

fn identity(token: &str) -> Option<Secret> {
    (!token.is_empty()).then(|| Secret::new(token))
}

impl Auth {
    /// Text in base64, or a list of byte values, as Go reads bytes.
    fn read(value: Piece<'_>) -> Self {
        let bytes = match value.kind() {
            Kind::Null => return Self::Absent,
            Kind::Text => value.text().map_or(Err("its `auth` is not text"), |text| decode(&text)),
            Kind::List => value
                .items()
                .into_iter()
                .map(byte)
                .collect::<Option<Vec<u8>>>()
                .map(Zeroizing::new)
                .ok_or("its `auth` is a list of other things than bytes"),
            _ => Err("its `auth` is not text"),
        };
        bytes.map_or_else(Self::Broken, |bytes| Self::split(&bytes))
    }

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

fn byte(item: Piece<'_>) -> Option<u8> {
    if item.kind() == Kind::Null { Some(0) } else { item.raw().parse().ok() }
}

/// Line breaks inside are passed over.
fn decode(text: &str) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let mut plain = Zeroizing::new(String::with_capacity(text.len()));
    plain.extend(text.chars().filter(|letter| !matches!(letter, '\r' | '\n')));
    BASE64.decode(plain.as_bytes()).map(Zeroizing::new).map_err(|_| {
        let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
        let body = plain.trim_end_matches('=');
        if body.chars().all(sound) && body.len() == plain.len() {
            "its `auth` is base64 without the `=` at its end"
        } else if body.chars().all(|letter| sound(letter) || matches!(letter, '-' | '_')) && body.contains(['-', '_']) {
            "its `auth` is base64 with `-` and `_` instead of `+` and `/`"
        } else if plain.contains(|letter: char| letter.is_whitespace()) {
            "its `auth` has blanks in it"
        } else {
            "its `auth` is not base64"
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn entry(json: &str) -> (AuthEntry, usize) {
        let (_, piece) = Document::parse(json).expect("JSON");
        let mut remarks = 0;
        let entry = AuthEntry::read("ghcr.io".to_owned(), 1, piece, &mut |_| remarks += 1);
        (entry, remarks)
    }

    /// The credential of an entry as `USER:PASSWORD`, or what else it is worth.
    #[track_caller]
    fn check(json: &str, want: &str) {
        let (entry, remarks) = entry(json);
        let got = match entry.held() {
            Held::Mark => "mark".to_owned(),
            Held::LeftOut(problem) => format!("left out: {problem}"),
            Held::WithoutColon => "without colon".to_owned(),
            Held::Nothing => "nothing".to_owned(),
            Held::Credential(Credential::Basic { username, password }) => format!("{username}:{}", password.expose()),
            Held::Credential(Credential::IdentityToken(token)) => format!("identity token {}", token.expose()),
            Held::Credential(Credential::RegistryToken(_)) => "registry token".to_owned(),
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
        // The bits behind the last byte are not looked at.
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
        assert_eq!((entry.held(), remarks), (Held::Credential(Credential::basic("u", "p")), 1));
    }
}

//! The prediction against what the real programs did: every case of `testdata/vectors/real_tofu_credentials.json`.
//!
//! The files, the environment and the CLI configuration of a case become a policy; the prediction becomes what the
//! registry or the token server would see, given the challenge and the helpers of the case.

mod config;
mod files;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tofu_oci_types::RepositoryRef;
use tofu_oci_vectors::Vectors;

use super::wire::challenge::{self, ChallengeScheme};
use super::{Prediction, predict};
use crate::decoded::DecodedFile;
use crate::opentofu_file::OpenTofuFile;
use crate::{FileState, SearchScope};

/// Cases in which a credential is chosen and never sent: what happens on the wire stands in its way. The choice itself
/// cannot be seen in them; the differences on the wire have tests of their own.
const NOT_SENT: [(&str, &str); 11] = [
    ("wire-bearer-unquoted", "the realm is broken"),
    ("wire-two-headers-unknown-first", "the first challenge has an unknown scheme"),
    ("wire-unknown-scheme", "the challenge has an unknown scheme"),
    ("wire-no-header", "there is no challenge"),
    ("wire-realm-http-anonymous", "the realm is refused"),
    ("wire-realm-relative", "the realm is refused"),
    ("wire-500-ping", "the answer to /v2/ ends it"),
    ("wire-realm-loopback-ip-anonymous", "the realm is refused"),
    ("wire-realm-private-ip", "the realm is refused"),
    ("wire-realm-no-scheme", "the realm is refused"),
    ("wire-realm-userinfo", "the user information of the realm is sent, which the user did not choose"),
];

/// One case.
pub(in crate::opentofu) struct Case(Value);

impl Case {
    pub(in crate::opentofu) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    pub(in crate::opentofu) fn get(&self, name: &str) -> &Value {
        &self.0[name]
    }

    pub(in crate::opentofu) fn repositories(&self) -> Vec<RepositoryRef> {
        let parse = |text: &str| RepositoryRef::from_opentofu(&with_port(text)).expect("a repository");
        match self.0["repositories"].as_object() {
            Some(several) => several.values().map(|text| parse(text.as_str().expect("a text"))).collect(),
            None => vec![parse(self.text("repository"))],
        }
    }
}

/// `{port}` stands for any port.
pub(in crate::opentofu) fn with_port(text: &str) -> String {
    text.replace("{port}", "5999")
}

fn table() -> Vectors {
    Vectors::open("real_tofu_credentials.json")
}

pub(in crate::opentofu) fn each(mut check: impl FnMut(&Case)) {
    table().each("cases", |case| check(&Case(case.clone())));
}

/// Whether these are the cases whose numbers are known here.
pub(in crate::opentofu) fn are_own() -> bool {
    table().is_own()
}

#[test]
fn every_measured_case_is_predicted() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    each(|case| {
        *counts.entry(case.text("group").to_owned()).or_default() += 1;
        assert_eq!(seen(case), expected(case), "predicted, and measured");
    });
    let counts: Vec<(&str, usize)> = counts.iter().map(|(group, count)| (group.as_str(), *count)).collect();
    let measured = [
        ("auths-entry", 17),
        ("auths-key", 28),
        ("block", 44),
        ("default-block", 19),
        ("file", 27),
        ("helper", 51),
        ("location", 17),
        ("module", 4),
        ("wire", 60),
    ];
    assert!(!are_own() || counts == measured, "{counts:?}");
}

#[test]
fn files_are_off_where_they_were_measured_to_be() {
    let mut count = 0;
    each(|case| {
        let (policy, _) = case.policy();
        let off = policy.search() == SearchScope::Ambient && policy.files().iter().any(turns_off);
        assert_eq!(off, case.get("observed")["ambient_off"] == true, "{}", case.text("name"));
        count += usize::from(off);
    });
    assert!(!are_own() || count == 18, "{count}");
}

fn turns_off(file: &crate::FoundFile) -> bool {
    file.known_to_opentofu
        && match &file.state {
            FileState::Missing | FileState::TooLarge { .. } => false,
            FileState::Unreadable { .. } | FileState::Malformed(_) => true,
            FileState::Read(read) => read.as_opentofu.off().is_some(),
        }
}

#[test]
fn mistakes_in_the_configuration_are_those_that_were_measured() {
    let mut count = 0;
    each(|case| {
        let (_, faults) = case.policy();
        let codes: Vec<&str> = faults.iter().map(|fault| fault.code.as_str()).collect();
        let measured: Vec<&str> = case.get("observed")["config_error"].as_str().into_iter().collect();
        assert_eq!(codes, measured, "{}", case.text("name"));
        count += codes.len();
    });
    assert!(!are_own() || count == 22, "{count}");
}

#[test]
fn both_readings_agree_about_what_turns_a_file_off() {
    each(|case| {
        let (policy, _) = case.policy();
        for file in policy.files() {
            if let FileState::Read(read) = &file.state {
                let (ours, theirs) = (read.off().is_some(), read.as_opentofu.off().is_some());
                assert_eq!(ours, theirs, "{}: {}", case.text("name"), file.name);
            }
        }
        for content in case.get("files").as_object().expect("an object").values().filter_map(Value::as_str) {
            let broken = crate::AuthFile::parse("f", content.as_bytes()).is_err();
            assert!(!broken || OpenTofuFile::of(&DecodedFile::of(content.as_bytes())).off().is_some(), "{content}");
        }
    });
}

#[test]
fn no_prediction_shows_a_secret() {
    let mut count = 0;
    each(|case| {
        let (policy, faults) = case.policy();
        let files = case.get("files").to_string();
        // Every `auth` as it is written; the shortest are too short to mean anything.
        let mut secrets: Vec<String> = files
            .split('"')
            .filter(|text| text.len() > 7 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'='))
            .filter(|text| STANDARD.decode(text).is_ok_and(|pair| pair.contains(&b':')))
            .map(str::to_owned)
            .collect();
        let mut text = format!("{policy:?} {faults:?} {:?}", policy.warnings());
        for repository in case.repositories() {
            let prediction = predict(&policy, &faults, &repository);
            if let Prediction::Basic { password: secret, .. } | Prediction::Token { access: secret, .. } = &prediction {
                secrets.push(format!("\"{}\"", secret.expose()));
            }
            text.push_str(&format!("{prediction:?} {:?}", policy.look_up(&repository)));
        }
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{}: {secret} in {text}", case.text("name"));
        }
        count += secrets.len();
    });
    assert!(!are_own() || count > 250, "{count}");
}

/// What the registry or the token server gets by the prediction.
fn seen(case: &Case) -> Vec<String> {
    let (policy, faults) = case.policy();
    let mut seen: Vec<String> =
        case.repositories().iter().map(|it| sent(case, predict(&policy, &faults, it))).collect();
    seen.dedup();
    seen
}

fn sent(case: &Case, prediction: Prediction) -> String {
    let (username, password) = match prediction {
        Prediction::Anonymous { .. } => return not_sent(case).unwrap_or("anonymous").to_owned(),
        Prediction::Refused { code, .. } => return format!("error {code}"),
        Prediction::Crash { .. } => return "error crash".to_owned(),
        Prediction::Random { keys } => return format!("one of {keys:?}"),
        Prediction::Token { access, .. } if scheme(case) == Some(ChallengeScheme::Bearer) => {
            return format!("access {}", access.expose());
        }
        Prediction::Token { .. } => return "error incomplete-basic".to_owned(),
        Prediction::Basic { username, password, .. } => (username, password.expose().to_owned()),
        Prediction::Ask { .. } if scheme(case).is_none() => return "anonymous".to_owned(),
        Prediction::Ask { program, server, .. } => match ask(case, &program, &server) {
            Ok(Some(pair)) => pair,
            Ok(None) => return "anonymous".to_owned(),
            Err(code) => return format!("error {code}"),
        },
    };
    if let Some(reason) = not_sent(case) {
        return reason.to_owned();
    }
    match scheme(case) {
        None => "anonymous".to_owned(),
        Some(ChallengeScheme::Bearer) => format!("bearer {username}:{password}"),
        _ if username.is_empty() || password.is_empty() => "error incomplete-basic".to_owned(),
        Some(ChallengeScheme::Basic) => format!("basic {username}:{password}"),
        Some(ChallengeScheme::Other) => panic!("{}: such cases are named", case.text("name")),
    }
}

fn not_sent(case: &Case) -> Option<&'static str> {
    NOT_SENT.iter().find(|(name, _)| *name == case.text("name")).map(|(_, reason)| *reason)
}

/// The scheme that counts; nothing where the registry demands nothing.
fn scheme(case: &Case) -> Option<ChallengeScheme> {
    let registry = case.get("registry");
    if let Some(lines) = registry["www"].as_array() {
        let lines: Vec<String> = lines.iter().map(|line| line.as_str().expect("a text").to_owned()).collect();
        return challenge::first(&lines).map(|challenge| challenge.scheme);
    }
    match registry["challenge"].as_str() {
        None | Some("basic") => Some(ChallengeScheme::Basic),
        Some("bearer") => Some(ChallengeScheme::Bearer),
        Some("none") => None,
        Some(other) => panic!("challenge {other}"),
    }
}

/// What a helper of the case gives: name and password, or that there is none.
fn ask(case: &Case, program: &str, server: &str) -> Result<Option<(String, String)>, &'static str> {
    let helpers = case.get("helpers").as_object().expect("an object");
    let found = helpers.iter().find(|(name, helper)| match helper["path"].as_str() {
        Some(path) => same_path(path, program),
        None => program == format!("docker-credential-{name}"),
    });
    let Some((name, helper)) = found else {
        return Err(match program {
            "docker-credential-desktop.exe" => "helper-not-found-desktop",
            path if path.starts_with("./") => "helper-failed",
            _ => "helper-not-found",
        });
    };
    let observed = case.get("observed");
    assert_eq!(
        (observed["helper_stdin"].as_str(), observed["helper_name"].as_str()),
        (Some(server), Some(name.as_str()))
    );
    let stdout = helper["stdout"].as_str().unwrap_or_default();
    if helper["exit"].as_i64().unwrap_or_default() != 0 {
        return if stdout.trim() == "credentials not found in native keychain" {
            Ok(None)
        } else {
            Err("helper-failed")
        };
    }
    let answer = match &helper["get"] {
        Value::Null => serde_json::from_str(stdout).map_err(|_| "helper-failed")?,
        answer => answer.clone(),
    };
    let member = |wanted: &str| {
        let mut members = answer.as_object().into_iter().flatten();
        let value = members.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value);
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    match (member("Username"), member("Secret")) {
        (user, secret) if user.is_empty() && secret.is_empty() => Ok(None),
        (user, secret) if user == "<token>" => {
            if secret.is_empty() {
                Ok(None)
            } else {
                Err("helper-identity-token")
            }
        }
        pair => Ok(Some(pair)),
    }
}

/// Whether a program is a file of the case. `$WORK` is the working directory and is named `work`.
fn same_path(path: &str, program: &str) -> bool {
    fn plain(path: &str) -> Vec<&str> {
        let mut plain = Vec::new();
        for part in path.split('/').filter(|part| *part != ".") {
            match part {
                ".." => drop(plain.pop()),
                part => plain.push(part),
            }
        }
        plain
    }
    let folder = "/home/work";
    let program = program.strip_prefix("./").map_or(program.to_owned(), |file| format!("{folder}/{file}"));
    plain(&path.replace("$WORK", folder)) == plain(&program)
}

/// What was measured with 1.12.6: what was sent, else the error, in the words of [`sent`].
fn expected(case: &Case) -> Vec<String> {
    if let Some(reason) = not_sent(case) {
        assert!(case.text("group") == "wire", "{}: only the wire stands between", case.text("name"));
        return vec![reason.to_owned()];
    }
    let expect = case.get("expect");
    let texts = |value: &Value| match value {
        Value::Array(several) => several.iter().map(|text| text.as_str().expect("a text").to_owned()).collect(),
        one => vec![one.as_str().expect("a text").to_owned()],
    };
    let mut sent: Vec<String> = Vec::new();
    if !expect["basic"].is_null() {
        sent.extend(texts(&expect["basic"]).iter().map(|pair| format!("basic {pair}")));
    }
    if !expect["bearer_from"].is_null() {
        sent.extend(texts(&expect["bearer_from"]["basic"]).iter().map(|pair| format!("bearer {pair}")));
    }
    if !expect["access_token"].is_null() {
        sent.extend(texts(&expect["access_token"]).iter().map(|token| format!("access {token}")));
    }
    let denied = expect["error"] == "no-credentials-for-basic";
    if expect["anonymous"] == true || denied {
        sent.push("anonymous".to_owned());
    }
    if sent.is_empty() {
        sent.push(format!("error {}", expect["error"].as_str().expect("something happened")));
    }
    sent
}

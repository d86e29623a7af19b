//! No secret is told, whatever goes wrong.

use std::fmt::{Debug, Display};

use base64::Engine as _;
use tofu_oci_types::{RepositoryRef, Secret};

use crate::{
    AuthFile, Block, BlockStyle, Choice, Credential, CredentialLookup, CredentialPolicy, FileKind, FilePlace,
    FileState, FoundFile, HelperName, HelperOutput, SearchScope, helper_outcome,
};

/// In every secret of this module, plain and in base64 wherever it may stand.
const SECRETS: [&str; 4] = ["hunter2", "aHVudGVyM", "h1bnRlcj", "odW50ZXIy"];

fn quiet(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{text}");
    }
}

fn scan(thing: &dyn Debug) {
    quiet(&format!("{thing:?} {thing:#?}"));
}

fn scan_error(error: &(impl Debug + Display)) {
    scan(error);
    quiet(&error.to_string());
}

/// Everything that can be printed of a file and of the choice from it.
fn scan_file(text: &str) {
    let state = match AuthFile::parse("a.json", text.as_bytes()) {
        Ok(file) => {
            scan(&file);
            scan(&file.warnings());
            scan(&file.off());
            FileState::Read(file)
        }
        Err(error) => {
            scan_error(&error);
            quiet(&error.problem());
            FileState::Malformed(error)
        }
    };
    let file = FoundFile {
        name: "a.json".to_owned(),
        because: "~/.docker".to_owned(),
        known_to_opentofu: true,
        kind: FileKind::Docker,
        state,
    };
    let place = FilePlace { file: "tofurc".to_owned(), line: Some(1) };
    let styles = [
        BlockStyle::Basic { username: "u".to_owned(), password: Secret::new("hunter2") },
        BlockStyle::Token { access: Secret::new("hunter2") },
    ];
    let blocks = ["block.test", "token.test"].into_iter().zip(styles);
    let blocks = blocks.map(|(label, style)| Block { label: label.to_owned(), place: place.clone(), style }).collect();
    let policy = CredentialPolicy::new(blocks, None, SearchScope::Ambient, vec![file]);
    scan(&policy);
    for warning in policy.warnings().iter().chain(&policy.notes()) {
        scan(warning);
        quiet(&warning.to_string());
    }
    for registry in ["ghcr.io", "docker.io", "block.test", "token.test", "HOST.test"] {
        let repository: RepositoryRef = format!("{registry}/x").parse().expect("a repository");
        scan_account(&policy.look_up(&repository));
        scan(&crate::opentofu::predict(&policy, &[], &repository));
    }
}

fn scan_account(account: &CredentialLookup) {
    scan(account);
    for candidate in &account.candidates {
        quiet(&candidate.origin.to_string());
        quiet(&candidate.origin.place().to_string());
        match &candidate.verdict {
            crate::CandidateVerdict::Broken(error) => scan_error(error),
            crate::CandidateVerdict::NoMatch(Some(near)) => quiet(&near.to_string()),
            _ => {}
        }
    }
    if let Choice::Refused(error) = &account.choice {
        scan_error(error);
    }
}

#[test]
fn no_file_tells_a_secret() {
    let auth = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let entries = [
        "\"hunter2\"".to_owned(),
        "[\"hunter2\"]".to_owned(),
        r#"{"auth": "hunter2!"}"#.to_owned(),
        format!(r#"{{"auth": "{}"}}"#, auth("user:hunter2")),
        format!(r#"{{"auth": "{}"}}"#, auth("hunter2")),
        format!(r#"{{"auth": "{}"}}"#, auth("x hunter2").trim_end_matches('=')),
        format!(r#"{{"auth": " {}"}}"#, auth("y: hunter2")),
        r#"{"auth": ["hunter2"]}"#.to_owned(),
        r#"{"auth": {"hunter2": "hunter2"}}"#.to_owned(),
        r#"{"identitytoken": "hunter2"}"#.to_owned(),
        r#"{"identitytoken": ["hunter2"]}"#.to_owned(),
        r#"{"username": "u", "password": "hunter2", "registrytoken": "hunter2"}"#.to_owned(),
        r#"{"auth": "hunter2", }"#.to_owned(),
        r#"{"auth": "hunter2"#.to_owned(),
    ];
    let keys = [
        "ghcr.io",
        "https://index.docker.io/v1/",
        "https://me:hunter2@ghcr.io/",
        "me:hunter2@ghcr.io",
        "https://me:a/hunter2@ghcr.io",
        "me:a::hunter2@ghcr.io",
        "me:a/hunter2@ghcr.io",
        "https://me:hunter2@ghcr.io/x",
        "host.TEST",
    ];
    for key in keys {
        for entry in &entries {
            scan_file(&format!("{{\"auths\": {{\"{key}\": {entry}}}}}"));
        }
        scan_file(&format!("{{\"credHelpers\": {{\"{key}\": \"x/y\"}}, \"credsStore\": [\"hunter2\"]}}"));
    }
    for text in ["\"hunter2\"", "hunter2", "{} hunter2", "\0hunter2", "[\"hunter2\"]", r#"{"auths": "hunter2"}"#] {
        scan_file(text);
    }
}

#[test]
fn no_helper_tells_a_secret() {
    let name = HelperName::parse("x").expect("a name");
    for exit in [Some(0), Some(1), None] {
        for stdout in [
            r#"{"ServerURL": "x", "Username": "u", "Secret": "hunter2"}"#,
            r#"{"Username": "<token>", "Secret": "hunter2"}"#,
            r#"{"Secret": ["hunter2"]}"#,
            "{\"Secret\": \"hunter2\"} and more",
            "[\"{hunter2\"]",
        ] {
            let output = HelperOutput { exit, stdout: stdout.as_bytes().to_vec() };
            scan(&output);
            let outcome = helper_outcome(&name, &output);
            scan(&outcome);
            if let Err(error) = outcome {
                scan_error(&error);
            }
        }
    }
    assert!(helper_outcome(&name, &HelperOutput { exit: Some(0), stdout: b"hunter2".to_vec() }).is_err());
}

#[test]
fn a_secret_is_masked_wherever_it_is_printed() {
    let secret = Secret::new("hunter2");
    assert_eq!(format!("{secret:?}"), "Secret(***)");
    let (identity, registry) = (Secret::new("hunter2"), Secret::new("hunter2"));
    let credentials = [
        Credential::basic("user", "hunter2"),
        Credential::IdentityToken(identity),
        Credential::RegistryToken(registry),
    ];
    for credential in credentials {
        scan(&credential);
        assert!(format!("{credential:?}").contains("***"));
    }
}

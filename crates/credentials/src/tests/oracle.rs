//! The same questions put to `docker_credential`, where the two must agree: `OpenTofu` and docker read them alike.
//!
//! Our own choice stays because it must be `OpenTofu`'s: `docker_credential` 1.4 reads the environment itself, runs helper
//! names that it has not checked, puts helpers before `auths` (`OpenTofu`, measured: the reverse), and knows no repository
//! paths. `the_other_library_does_not_know_paths_yet` fails on the day on which it knows them.

use docker_credential::{DockerCredential, get_credential_from_reader};
use tofu_oci_types::RepositoryRef;

use crate::choose::tests::found;
use crate::{Choice, Credential, CredentialPolicy, SearchScope};

/// `file` gives the same credential for `registry` to both; `server` is the word for it that docker uses.
#[track_caller]
fn check(file: &str, registry: &str, server: &str) {
    let theirs = match get_credential_from_reader(file.as_bytes(), server) {
        Ok(DockerCredential::UsernamePassword(username, password)) => Some(Credential::basic(username, password)),
        Ok(DockerCredential::IdentityToken(token)) => Some(Credential::IdentityToken(token.into())),
        Err(_) => None,
    };
    let policy = CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, vec![found("config.json", file)]);
    let repository: RepositoryRef = format!("{registry}/acme/widget").parse().expect("a repository");
    let ours = match policy.look_up(&repository).choice {
        Choice::Credential { credential, .. } => Some(credential),
        Choice::Anonymous | Choice::Ask { .. } | Choice::Refused(_) => None,
    };
    assert!(ours == theirs, "{registry} in {file}");
}

#[test]
fn agrees_about_docker_files() {
    let entries = [
        r#"{"auth": "dXNlcjpwYXNz"}"#,
        r#"{"auth": "dXNlcjpwYTpzcw=="}"#,
        r#"{"auth": "dXNlcjo="}"#,
        r#"{"auth": "dXNlcg=="}"#,
        r#"{"auth": "!"}"#,
        r#"{"auth": "dXNlcjpwYXNz", "username": "user", "password": "pass"}"#,
        r#"{"auth": "dXNlcjo=", "identitytoken": "token"}"#,
        r#"{"identitytoken": "token"}"#,
        "{}",
    ];
    let names = [
        ("ghcr.io", "ghcr.io", "ghcr.io"),
        ("localhost:5000", "localhost:5000", "localhost:5000"),
        ("docker.io", "https://index.docker.io/v1/", "https://index.docker.io/v1/"),
        ("index.docker.io", "https://index.docker.io/v1/", "https://index.docker.io/v1/"),
        ("registry-1.docker.io", "https://index.docker.io/v1/", "https://index.docker.io/v1/"),
        ("ghcr.io", "ghcr.io", "quay.io"),
    ];
    for entry in entries {
        for (registry, server, key) in names {
            check(&format!(r#"{{"auths": {{"{key}": {entry}}}}}"#), registry, server);
        }
    }
}

#[test]
fn agrees_that_nothing_is_there() {
    for file in ["", "{}", "[]", r#"{"auths": {}}"#, "not JSON"] {
        check(file, "ghcr.io", "ghcr.io");
    }
}

/// Fails on the day on which `docker_credential` knows paths, as `OpenTofu` does: then our choice is to be weighed anew.
#[test]
fn the_other_library_does_not_know_paths_yet() {
    let file = r#"{"auths": {"ghcr.io/acme": {"auth": "dXNlcjpwYXNz"}}}"#;
    let policy = CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, vec![found("config.json", file)]);
    let repository: RepositoryRef = "ghcr.io/acme/widget".parse().expect("a repository");
    assert!(matches!(policy.look_up(&repository).choice, Choice::Credential { .. }));
    for server in ["ghcr.io/acme/widget", "ghcr.io"] {
        assert!(get_credential_from_reader(file.as_bytes(), server).is_err(), "{server}");
    }
}

//! The choice among all files.

use tofu_oci_types::RepositoryRef;

use crate::Credential;
use crate::file::{AuthFile, Entry, FileWarning};
use crate::key::canonical;

/// Every credential file that was found, the most important first.
#[derive(Clone, Debug, Default)]
pub struct CredentialFiles(Vec<AuthFile>);

/// Where the credential for a repository comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It stands in a file.
    Found {
        /// The credential.
        credential: Credential,
        /// The file.
        origin: String,
        /// The key in the file, such as `ghcr.io/acme`.
        key: String,
    },
    /// A helper has to be asked. When it knows nothing, that is the answer: no less specific source is tried.
    Helper {
        /// The helper's name: the program is `docker-credential-NAME`.
        name: String,
        /// What to ask for first, `https://HOST[:PORT]`, as `OpenTofu` does.
        server: String,
        /// What to ask for when the helper knows nothing under `server`: the form that `docker login` stores.
        login_server: String,
        /// The file that names the helper.
        origin: String,
    },
    /// No file speaks about the repository: anonymous.
    None,
}

/// How closely a source fits: the count of path segments, or the store that serves every registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Store,
    Prefix(usize),
}

impl CredentialFiles {
    /// Files in order of importance.
    pub fn new(files: Vec<AuthFile>) -> Self {
        Self(files)
    }

    /// Reads files given as name and bytes. A file that is no credential file is left out with a warning.
    pub fn read(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> (Self, Vec<FileWarning>) {
        let mut read = Vec::new();
        let mut warnings = Vec::new();
        for (origin, bytes) in files {
            match AuthFile::parse(&origin, &bytes) {
                Ok(file) => {
                    warnings.extend_from_slice(file.warnings());
                    read.push(file);
                }
                Err(error) => warnings.push(error.into()),
            }
        }
        (Self(read), warnings)
    }

    /// The source for a repository: the longest prefix of whole path segments wins, then the earlier file, then
    /// inside one file `auths` before `credHelpers`; a `credsStore` comes last.
    ///
    /// Spec: `OpenTofu` 1.12, ociauthconfig (specificity); containers-auth.json(5).
    pub fn choose(&self, repository: &RepositoryRef) -> Choice {
        let mut best: Option<(Fit, Choice)> = None;
        for file in &self.0 {
            for (fit, choice) in file.choices(repository) {
                if best.as_ref().is_none_or(|(other, _)| fit > *other) {
                    best = Some((fit, choice));
                }
            }
        }
        best.map_or(Choice::None, |(_, choice)| choice)
    }
}

impl AuthFile {
    /// The best of each kind, in the order that counts among equals.
    fn choices(&self, repository: &RepositoryRef) -> Vec<(Fit, Choice)> {
        let mut choices = Vec::new();
        if let Some((fit, entry)) = best(&self.auths, repository) {
            choices.push((
                fit,
                Choice::Found {
                    credential: entry.value.clone(),
                    origin: self.origin().to_owned(),
                    key: entry.text.clone(),
                },
            ));
        }
        if let Some((fit, entry)) = best(&self.helpers, repository) {
            choices.push((fit, self.helper(&entry.value, repository)));
        }
        if let Some(store) = &self.store {
            choices.push((Fit::Store, self.helper(store, repository)));
        }
        choices
    }

    fn helper(&self, name: &str, repository: &RepositoryRef) -> Choice {
        let registry = repository.registry();
        let (server, login_server) = if canonical(registry) == "docker.io" {
            ("https://index.docker.io/v1/".to_owned(), "https://index.docker.io/v1/".to_owned())
        } else {
            (format!("https://{registry}"), registry.to_owned())
        };
        Choice::Helper { name: name.to_owned(), server, login_server, origin: self.origin().to_owned() }
    }
}

/// The entry with the longest matching key; among equals one written exactly so, then the first.
fn best<'a, T>(entries: &'a [Entry<T>], repository: &RepositoryRef) -> Option<(Fit, &'a Entry<T>)> {
    let exact = |entry: &Entry<T>| entry.text.split('/').next() == Some(repository.registry());
    let mut best: Option<(usize, bool, &Entry<T>)> = None;
    for entry in entries {
        let Some(segments) = entry.key.matches(repository) else { continue };
        if best.is_none_or(|(most, other_exact, _)| (segments, exact(entry)) > (most, other_exact)) {
            best = Some((segments, exact(entry), entry));
        }
    }
    best.map(|(segments, _, entry)| (Fit::Prefix(segments), entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    /// `auth` of `USER:PASSWORD`.
    fn auth(text: &str) -> String {
        base64::engine::general_purpose::STANDARD.encode(text)
    }

    fn choose(files: &[&str], repository: &str) -> Choice {
        let files =
            files.iter().enumerate().map(|(position, text)| (format!("file{position}"), text.as_bytes().to_vec()));
        let (files, warnings) = CredentialFiles::read(files);
        assert_eq!(warnings, [], "no warning is expected");
        files.choose(&repository.parse().expect("a repository"))
    }

    /// The user that is chosen, `helper NAME SERVER`, or `none`.
    #[track_caller]
    fn check(files: &[&str], repository: &str, want: &str) {
        let got = match choose(files, repository) {
            Choice::Found { credential: Credential::Basic { username, .. }, .. } => username,
            Choice::Found { credential: Credential::IdentityToken(_), .. } => "identity token".to_owned(),
            Choice::Found { credential: Credential::RegistryToken(_), .. } => "registry token".to_owned(),
            Choice::Helper { name, server, .. } => format!("helper {name} {server}"),
            Choice::None => "none".to_owned(),
        };
        assert_eq!(got, want, "{repository}");
    }

    /// A file whose `auths` has these keys, each with itself as the user.
    fn keys(keys: &[&str]) -> String {
        let auths: serde_json::Map<String, serde_json::Value> = keys
            .iter()
            .map(|key| ((*key).to_owned(), serde_json::json!({"username": key, "password": "hunter2"})))
            .collect();
        serde_json::json!({ "auths": auths }).to_string()
    }

    #[test]
    fn the_longest_prefix_of_whole_segments_wins() {
        let file = keys(&["ghcr.io", "ghcr.io/acme", "ghcr.io/acme/widget", "ghcr.io/ac"]);
        check(&[&file], "ghcr.io/acme/widget", "ghcr.io/acme/widget");
        check(&[&file], "ghcr.io/acme/widget/x", "ghcr.io/acme/widget");
        check(&[&file], "ghcr.io/acme/widgets", "ghcr.io/acme");
        check(&[&file], "ghcr.io/acmes/widget", "ghcr.io");
        check(&[&file], "quay.io/acme/widget", "none");
    }

    #[test]
    fn a_longer_prefix_wins_over_an_earlier_file_and_an_earlier_file_over_an_equal_one() {
        let (first, second) = (keys(&["ghcr.io"]), keys(&["ghcr.io", "ghcr.io/acme"]));
        check(&[&first, &second], "ghcr.io/acme/x", "ghcr.io/acme");
        let a = r#"{"auths": {"ghcr.io": {"username": "a", "password": "p"}}}"#;
        let b = r#"{"auths": {"ghcr.io": {"username": "b", "password": "p"}}}"#;
        check(&[a, b], "ghcr.io/x", "a");
        check(&[b, a], "ghcr.io/x", "b");
        check(&[r#"{"auths": {"ghcr.io": {}}}"#, b], "ghcr.io/x", "b");
    }

    #[test]
    fn keys_match_as_measured_but_for_urls_and_the_names_of_the_hub() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let bytes = std::fs::read(root.join("../shared/spec/vectors/oci_credentials_match.json"))
            .or_else(|_| std::fs::read(root.join("testdata/vectors/oci_credentials_match.json")))
            .expect("the project has a copy of the table");
        let table: serde_json::Value = serde_json::from_slice(&bytes).expect("the table is JSON");
        for case in table["auths_key_match"].as_array().expect("a list of cases") {
            let text = |name: &str| case[name].as_str().expect("a text");
            if text("repository").is_empty() {
                continue;
            }
            let repository = format!("{}/{}", text("registry"), text("repository"));
            let matched = case["specificity"] != 0 || text("key").starts_with("https://");
            check(&[&keys(&[text("key")])], &repository, if matched { text("key") } else { "none" });
        }
    }

    #[test]
    fn a_port_is_part_of_the_registry() {
        let file = keys(&["localhost:5000"]);
        check(&[&file], "localhost:5000/x", "localhost:5000");
        check(&[&file], "localhost:5001/x", "none");
        check(&[&file], "localhost/x", "none");
        check(&[&keys(&["example.com"])], "example.com:443/x", "none");
    }

    #[test]
    fn keys_written_as_urls_name_the_registry() {
        for key in
            ["https://ghcr.io", "https://ghcr.io/", "http://ghcr.io", "https://ghcr.io/v1/", "https://ghcr.io/v2/"]
        {
            check(&[&keys(&[key])], "ghcr.io/acme/x", key);
        }
        check(&[&keys(&["https://ghcr.io/acme"])], "ghcr.io/acme/x", "https://ghcr.io/acme");
        check(&[&keys(&["https://ghcr.io/acme"])], "ghcr.io/other/x", "none");
        check(&[&keys(&["https://ghcr.io", "ghcr.io"])], "ghcr.io/x", "ghcr.io");
    }

    #[test]
    fn all_names_of_the_docker_hub_are_one() {
        for key in [
            "https://index.docker.io/v1/",
            "index.docker.io",
            "docker.io",
            "registry-1.docker.io",
            "index.docker.io/v1/",
        ] {
            for registry in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
                check(&[&keys(&[key])], &format!("{registry}/library/x"), key);
            }
        }
        check(&[&keys(&["docker.io", "https://index.docker.io/v1/"])], "docker.io/x", "docker.io");
        check(&[&keys(&["docker.io.example"])], "docker.io/x", "none");
    }

    #[test]
    fn keys_that_name_nothing_match_nothing() {
        let invisible = [
            "",
            "*",
            "*.io",
            "ghcr.io:x",
            "ghcr.io/Acme",
            "ghcr.io//acme",
            "ghcr.io/acme/",
            "ghcr.io/acme:tag",
            "ftp://ghcr.io",
            "user@ghcr.io",
        ];
        check(&[&keys(&invisible)], "ghcr.io/acme/x", "none");
        check(&[&keys(&["ghcr.io/acme:"])], "ghcr.io/acme/x", "ghcr.io/acme:");
    }

    #[test]
    fn helpers_are_asked_where_no_closer_entry_is() {
        let file = r#"{"auths": {"ghcr.io/acme": {"username": "u", "password": "p"}, "quay.io": {"username": "q", "password": "p"}},
            "credHelpers": {"ghcr.io": "one", "quay.io": "two", "r.example:5000": "three", "e.example": ""}, "credsStore": "store"}"#;
        check(&[file], "ghcr.io/acme/x", "u");
        check(&[file], "ghcr.io/x", "helper one https://ghcr.io");
        check(&[file], "quay.io/x", "q");
        check(&[file], "r.example:5000/x", "helper three https://r.example:5000");
        check(&[file], "e.example/x", "helper store https://e.example");
        check(&[file], "docker.io/x", "helper store https://index.docker.io/v1/");
        check(&[r#"{"credsStore": "store"}"#, &keys(&["ghcr.io"])], "ghcr.io/x", "ghcr.io");
        check(&[r#"{"credsStore": "a"}"#, r#"{"credsStore": "b"}"#], "ghcr.io/x", "helper a https://ghcr.io");
    }

    #[test]
    fn a_helper_under_a_path_does_not_hide_the_one_of_the_registry() {
        let file = r#"{"credHelpers": {"ghcr.io/acme": "path", "ghcr.io": "host"}}"#;
        check(&[file], "ghcr.io/acme/x", "helper host https://ghcr.io");
        check(&[r#"{"credHelpers": {"ghcr.io/acme": "path"}}"#], "ghcr.io/acme/x", "none");
    }

    #[test]
    fn a_helper_also_learns_the_name_that_docker_login_stores() {
        let Choice::Helper { login_server, origin, .. } = choose(&[r#"{"credsStore": "x"}"#], "ghcr.io/a") else {
            panic!("a helper is wanted")
        };
        assert_eq!((login_server.as_str(), origin.as_str()), ("ghcr.io", "file0"));
    }

    #[test]
    fn an_entry_is_read_in_each_of_its_forms() {
        let file = |entry: &str| format!(r#"{{"auths": {{"ghcr.io": {entry}}}}}"#);
        let wrapped = format!("{}\\r\\n{}", &auth("user:pass")[..4], &auth("user:pass")[4..]);
        let null_guid = auth("00000000-0000-0000-0000-000000000000:");
        for (entry, want) in [
            (format!(r#"{{"auth": "{}"}}"#, auth("user:pa:ss")), "user"),
            (format!(r#"{{"auth": "{}"}}"#, auth("user:pass").trim_end_matches('=')), "user"),
            (format!(r#"{{"auth": "{wrapped}"}}"#), "user"),
            (format!(r#"{{"Auth": "{}"}}"#, auth("user:pass")), "user"),
            (format!(r#"{{"auth": "{}", "username": "other", "password": "p"}}"#, auth("user:pass")), "user"),
            (format!(r#"{{"auth": "{null_guid}", "identitytoken": "t"}}"#), "identity token"),
            (r#"{"registrytoken": "t"}"#.to_owned(), "registry token"),
            (r#"{"username": "user", "password": "p"}"#.to_owned(), "user"),
            (format!(r#"{{"auth": "{}"}}"#, auth(":")), "none"),
            (r#"{"auth": ""}"#.to_owned(), "none"),
            (r#"{"auth": null, "email": "a@example.com"}"#.to_owned(), "none"),
            ("null".to_owned(), "none"),
        ] {
            check(&[&file(&entry)], "ghcr.io/x", want);
        }
        let choice = choose(&[&file(&format!(r#"{{"auth": "{}"}}"#, auth("user:pa:ss")))], "ghcr.io/x");
        let Choice::Found { credential, origin, key } = choice else { panic!("a credential is wanted") };
        assert_eq!(credential, Credential::basic("user", "pa:ss"));
        assert_eq!((origin.as_str(), key.as_str()), ("file0", "ghcr.io"));
    }

    #[test]
    fn empty_files_say_nothing() {
        for file in ["{}", "null", r#"{"auths": null}"#, "\u{feff}{}", r#"{"HttpHeaders": {"X": "y"}}"#] {
            check(&[file], "ghcr.io/x", "none");
        }
    }
}

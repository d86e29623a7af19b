//! The registry that `login` and `logout` name.

use std::fmt;

use tofu_oci_credentials::docker_file::server_key;
use tofu_oci_types::{DOCKER_HUB_NAMES, RepositoryRef};

/// A text that names no registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a registry: {problem}")]
pub struct RegistryNameError {
    pub shown: String,
    pub problem: RegistryNameProblem,
    pub meant: Option<String>,
}

/// What is wrong with the name of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryNameProblem {
    #[error("it is empty")]
    Empty,
    /// It has a scheme.
    #[error("it is written without a scheme such as https://")]
    Scheme,
    /// It has a path.
    #[error("it is the host alone, without a path")]
    Path,
    /// It names an account.
    #[error("it is the host alone; --username names the account")]
    Account,
    /// Its host ends with a dot.
    #[error("its host ends with a dot")]
    DotAtEnd,
    /// Its port begins with 0.
    #[error("a port does not begin with 0")]
    PortWithZero,
    /// It is not `HOST` or `HOST:PORT`.
    #[error("it is HOST or HOST:PORT")]
    NoHost,
}

/// `HOST[:PORT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryName(String);

impl RegistryName {
    /// Reads the host that every repository of the registry begins with, and nothing more.
    ///
    /// # Errors
    /// If the text is anything else.
    pub fn parse(text: &str) -> Result<Self, RegistryNameError> {
        if repository(text).is_none() {
            return Err(invalid(text));
        }
        match text.rsplit_once(':') {
            Some((host, port)) if port.starts_with('0') => {
                let port = port.trim_start_matches('0');
                let port = if port.is_empty() { String::new() } else { format!(":{port}") };
                let meant = Some(format!("{host}{port}"));
                Err(RegistryNameError { shown: text.to_owned(), problem: RegistryNameProblem::PortWithZero, meant })
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A repository of the registry that has no login of its own.
    pub fn any_repository(&self) -> RepositoryRef {
        repository(self.host()).expect("it was one when the name was read")
    }

    /// The name by which the registry is asked.
    pub fn host(&self) -> &str {
        if self.is_hub() { "docker.io" } else { &self.0 }
    }

    /// What helpers are asked for by `OpenTofu`.
    pub fn url(&self) -> String {
        if self.is_hub() { server_key(&self.0) } else { format!("https://{}", self.0) }
    }

    /// Every key under which any docker release has stored a login of this registry.
    ///
    /// Spec: docker CLI 29, `command/registry/logout.go`, and `config/credentials`, `ConvertToHostname`.
    pub fn keys(&self) -> Vec<String> {
        let hosts: &[&str] = if self.is_hub() { &DOCKER_HUB_NAMES } else { &[&self.0] };
        let mut keys = Vec::new();
        for host in hosts {
            keys.push((*host).to_owned());
            for scheme in ["https", "http"] {
                keys.extend(["", "/", "/v1", "/v1/", "/v2", "/v2/"].map(|path| format!("{scheme}://{host}{path}")));
            }
        }
        keys
    }

    /// The name in small letters, as almost every repository is written; `None` if it has no others.
    pub fn in_small_letters(&self) -> Option<String> {
        let small = self.0.to_ascii_lowercase();
        (small != self.0).then_some(small)
    }

    fn is_hub(&self) -> bool {
        DOCKER_HUB_NAMES.contains(&self.as_str())
    }
}

impl fmt::Display for RegistryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text names no registry.
fn invalid(text: &str) -> RegistryNameError {
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    // The part before an `@` may hold a password: no error repeats it.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let shown = if authority == host { text } else { host }.to_owned();
    let problem = match (scheme, path) {
        _ if text.is_empty() => RegistryNameProblem::Empty,
        (Some(_), _) => RegistryNameProblem::Scheme,
        (None, Some(_)) => RegistryNameProblem::Path,
        (None, None) if authority != host => RegistryNameProblem::Account,
        (None, None) if without_dot(host).is_some() => RegistryNameProblem::DotAtEnd,
        (None, None) => RegistryNameProblem::NoHost,
    };
    let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
    let meant = [without_dot(host), Some(host.to_owned()), Some(bare.to_owned()), without_dot(bare)];
    let meant = meant.into_iter().flatten().find(|host| repository(host).is_some());
    RegistryNameError { shown, problem, meant }
}

/// The registry without the dot at the end of its host, or `None` if there is no such dot.
fn without_dot(registry: &str) -> Option<String> {
    match registry.split_once(':') {
        Some((host, port)) => Some(format!("{}:{port}", host.strip_suffix('.')?)),
        None => registry.strip_suffix('.').map(str::to_owned),
    }
}

fn repository(registry: &str) -> Option<RepositoryRef> {
    if registry.contains('/') {
        return None;
    }
    format!("{registry}/tofu-oci-login").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, (&str, &str)>) {
        let got = RegistryName::parse(text).map_err(|error| (error.to_string(), error.meant.unwrap_or_default()));
        let got = got.as_ref().map(RegistryName::as_str).map_err(|(text, meant)| (text.as_str(), meant.as_str()));
        assert_eq!(got, want);
    }

    #[test]
    fn a_registry_is_a_host_with_an_optional_port() {
        for name in ["ghcr.io", "registry.example.com:5000", "localhost", "localhost:5000", "[::1]:5000", "docker.io"] {
            check(name, Ok(name));
        }
    }

    #[test]
    fn more_than_a_host_is_refused_with_the_host() {
        let alone = "it is the host alone, without a path";
        check("ghcr.io/acme/widget", Err((&format!("`ghcr.io/acme/widget` is not a registry: {alone}"), "ghcr.io")));
        check("ghcr.io/", Err((&format!("`ghcr.io/` is not a registry: {alone}"), "ghcr.io")));
        check(
            "https://index.docker.io/v1/",
            Err((
                "`https://index.docker.io/v1/` is not a registry: it is written without a scheme such as https://",
                "index.docker.io",
            )),
        );
        check("ghcr.io:latest", Err(("`ghcr.io:latest` is not a registry: it is HOST or HOST:PORT", "ghcr.io")));
        check("", Err(("`` is not a registry: it is empty", "")));
        let dot = "ghcr.io";
        check("ghcr.io.", Err(("`ghcr.io.` is not a registry: its host ends with a dot", dot)));
        let dot = "localhost:5000";
        check("localhost.:5000", Err(("`localhost.:5000` is not a registry: its host ends with a dot", dot)));
        check("a b", Err(("`a b` is not a registry: it is HOST or HOST:PORT", "")));
    }

    #[test]
    fn a_port_that_no_repository_has_is_refused() {
        let wrong = "`localhost:06543` is not a registry: a port does not begin with 0";
        check("localhost:06543", Err((wrong, "localhost:6543")));
        let wrong = "`localhost:0` is not a registry: a port does not begin with 0";
        check("localhost:0", Err((wrong, "localhost")));
    }

    #[test]
    fn capital_letters_are_noticed() {
        let small = |text| RegistryName::parse(text).ok().and_then(|name| name.in_small_letters());
        assert_eq!(small("LOCALHOST:6543").as_deref(), Some("localhost:6543"));
        assert_eq!(small("localhost:6543"), None);
    }

    #[test]
    fn a_password_before_the_host_is_not_repeated() {
        check(
            "https://ada:hunter2@ghcr.io/",
            Err(("`ghcr.io` is not a registry: it is written without a scheme such as https://", "ghcr.io")),
        );
        check(
            "ada:hunter2@ghcr.io",
            Err(("`ghcr.io` is not a registry: it is the host alone; --username names the account", "ghcr.io")),
        );
    }
}

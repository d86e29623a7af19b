//! The registry that `login` and `logout` name.

use std::fmt;

use tofu_oci_credentials::docker_file::server_key;
use tofu_oci_types::{DOCKER_HUB_NAMES, RepositoryRef};

use crate::diagnostic::Diagnostic;

/// `HOST[:PORT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegistryName(String);

impl RegistryName {
    /// Reads the host that every repository of the registry begins with, and nothing more.
    pub(super) fn parse(text: &str) -> Result<Self, Diagnostic> {
        if let Some((host, port)) = text.rsplit_once(':')
            && port.starts_with('0')
            && repository(text).is_some()
        {
            let port = port.trim_start_matches('0');
            let port = if port.is_empty() { String::new() } else { format!(":{port}") };
            return Err(Diagnostic::usage(format!("`{text}` is not a registry: a port does not begin with 0"))
                .hint(format!("name the registry as its repositories begin: {host}{port}")));
        }
        if repository(text).is_some() {
            return Ok(Self(text.to_owned()));
        }
        // What stands before an `@` may be a password, and is not repeated.
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let shown = if authority == host { text } else { host };
        let problem = match (scheme, path) {
            _ if text.is_empty() => "it is empty",
            (Some(_), _) => "it is written without a scheme such as https://",
            (None, Some(_)) => "it is the host alone, without a path",
            (None, None) if authority != host => "it is the host alone; --username names the account",
            (None, None) if without_dot(host).is_some() => "its host ends with a dot",
            (None, None) => "it is HOST or HOST:PORT",
        };
        let diagnostic = Diagnostic::usage(format!("`{shown}` is not a registry: {problem}"));
        let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
        let meant = [without_dot(host), Some(host.to_owned()), Some(bare.to_owned()), without_dot(bare)];
        Err(match meant.into_iter().flatten().find(|host| repository(host).is_some()) {
            Some(host) => diagnostic.hint(format!("name the registry alone: {host}")),
            None => diagnostic.hint("write it as its repositories begin, such as ghcr.io or registry.example.com:5000"),
        })
    }

    /// The name as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// A repository of the registry that nobody has a login of its own for.
    pub(super) fn any_repository(&self) -> RepositoryRef {
        repository(self.host()).expect("it was one when the name was read")
    }

    /// The name by which the registry is asked.
    pub(super) fn host(&self) -> &str {
        if self.is_hub() { "docker.io" } else { &self.0 }
    }

    /// What helpers are asked for by `OpenTofu`.
    pub(super) fn url(&self) -> String {
        if self.is_hub() { server_key(&self.0) } else { format!("https://{}", self.0) }
    }

    /// Every key that a docker has ever stored a login of this registry under.
    ///
    /// Spec: docker CLI 29, `command/registry/logout.go`, and `config/credentials`, `ConvertToHostname`.
    pub(super) fn keys(&self) -> Vec<String> {
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

    /// The name in small letters, where it has others: repositories are hardly ever written so.
    pub(super) fn in_small_letters(&self) -> Option<String> {
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
    use crate::exit::Exit;

    #[track_caller]
    fn check(text: &str, want: Result<&str, (&str, &str)>) {
        let got = RegistryName::parse(text).map_err(|diagnostic| {
            assert_eq!(diagnostic.exit(), Exit::Usage);
            (diagnostic.text().to_owned(), diagnostic.hints().join("; "))
        });
        let got = got.as_ref().map(RegistryName::as_str).map_err(|(text, hint)| (text.as_str(), hint.as_str()));
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
        check(
            "ghcr.io/acme/widget",
            Err((&format!("`ghcr.io/acme/widget` is not a registry: {alone}"), "name the registry alone: ghcr.io")),
        );
        check("ghcr.io/", Err((&format!("`ghcr.io/` is not a registry: {alone}"), "name the registry alone: ghcr.io")));
        check(
            "https://index.docker.io/v1/",
            Err((
                "`https://index.docker.io/v1/` is not a registry: it is written without a scheme such as https://",
                "name the registry alone: index.docker.io",
            )),
        );
        check(
            "ghcr.io:latest",
            Err(("`ghcr.io:latest` is not a registry: it is HOST or HOST:PORT", "name the registry alone: ghcr.io")),
        );
        let form = "write it as its repositories begin, such as ghcr.io or registry.example.com:5000";
        check("", Err(("`` is not a registry: it is empty", form)));
        let dot = "name the registry alone: ghcr.io";
        check("ghcr.io.", Err(("`ghcr.io.` is not a registry: its host ends with a dot", dot)));
        let dot = "name the registry alone: localhost:5000";
        check("localhost.:5000", Err(("`localhost.:5000` is not a registry: its host ends with a dot", dot)));
        check("a b", Err(("`a b` is not a registry: it is HOST or HOST:PORT", form)));
    }

    #[test]
    fn a_port_that_no_repository_has_is_refused() {
        let wrong = "`localhost:06543` is not a registry: a port does not begin with 0";
        check("localhost:06543", Err((wrong, "name the registry as its repositories begin: localhost:6543")));
        let wrong = "`localhost:0` is not a registry: a port does not begin with 0";
        check("localhost:0", Err((wrong, "name the registry as its repositories begin: localhost")));
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
            Err((
                "`ghcr.io` is not a registry: it is written without a scheme such as https://",
                "name the registry alone: ghcr.io",
            )),
        );
        check(
            "ada:hunter2@ghcr.io",
            Err((
                "`ghcr.io` is not a registry: it is the host alone; --username names the account",
                "name the registry alone: ghcr.io",
            )),
        );
    }
}

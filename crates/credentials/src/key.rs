//! Keys of `auths` and `credHelpers`: a registry, or a repository prefix, plain or written as a URL.

use tofu_oci_types::RepositoryRef;

/// What a key speaks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    registry: String,
    /// Repository path segments; none for the whole registry.
    path: Vec<String>,
}

impl Key {
    /// Reads a key. Nothing when it can match no repository.
    ///
    /// `https://HOST`, with `/`, `/v1/` or `/v2/` behind it, is the whole registry, as old logins wrote it. A plain
    /// key is a repository prefix by the distribution grammar; an empty tag or digest at its end is cut off.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let text = match url {
            Some(rest) => without_api_path(rest),
            // Docker's name for the Hub, also seen without its scheme.
            None if text == "index.docker.io/v1/" || text == "index.docker.io/v1" => "index.docker.io",
            None => text.strip_suffix([':', '@']).filter(|rest| rest.contains('/')).unwrap_or(text),
        };
        let (registry, path) = text.split_once('/').map_or((text, None), |(registry, path)| (registry, Some(path)));
        // The grammar of repositories decides, with a stand-in where there is no path.
        let whole: RepositoryRef = format!("{registry}/{}", path.unwrap_or("x")).parse().ok()?;
        let path = path.map(|_| whole.name().split('/').map(str::to_owned).collect()).unwrap_or_default();
        Some(Self { registry: canonical(whole.registry()), path })
    }

    /// Whether the key names a whole registry.
    pub(crate) fn is_registry(&self) -> bool {
        self.path.is_empty()
    }

    /// How many leading path segments of the repository the key names; nothing when it does not match.
    pub(crate) fn matches(&self, repository: &RepositoryRef) -> Option<usize> {
        let mut segments = repository.name().split('/');
        let same = self.registry == canonical(repository.registry())
            && self.path.iter().all(|wanted| segments.next() == Some(wanted));
        same.then_some(self.path.len())
    }
}

fn without_api_path(text: &str) -> &str {
    ["/v1/", "/v2/", "/v1", "/v2", "/"].iter().find_map(|suffix| text.strip_suffix(suffix)).unwrap_or(text)
}

/// One name for each registry: lower case, and `docker.io` for all names of the Hub.
pub(crate) fn canonical(registry: &str) -> String {
    let registry = registry.to_ascii_lowercase();
    match registry.as_str() {
        "index.docker.io" | "registry-1.docker.io" => "docker.io".to_owned(),
        _ => registry,
    }
}

//! Repository addresses: `ghcr.io/acme/opentofu-provider-widget`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::text_value::text_value;

/// A repository of a registry: `HOST[:PORT]/NAME`.
///
/// `FromStr` is strict. [`RepositoryRef::from_opentofu`] accepts what `OpenTofu` accepts in a configuration; `FromStr`
/// may refuse the text of such a value.
///
/// Spec: OCI distribution-spec 1.1.1, "Pulling manifests" for the name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RepositoryRef {
    text: String,
    /// The length of the registry in the text.
    slash: usize,
}

/// A text that is not a repository address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a repository address: {reason}", crate::masked(input).replace('\n', "\\n"))]
pub struct InvalidRepositoryRef {
    input: String,
    reason: &'static str,
}

impl InvalidRepositoryRef {
    /// What is wrong, without the input.
    pub fn reason(&self) -> &str {
        self.reason
    }
}

impl RepositoryRef {
    fn of(registry: &str, name: &str) -> Self {
        Self { text: format!("{registry}/{name}"), slash: registry.len() }
    }

    /// Reads a repository with all that `OpenTofu` accepts in a configuration.
    ///
    /// Unlike `FromStr` it accepts every registry that is the host of a URL: letters outside ASCII, `*`, `~` and the
    /// like, any number as the port (`host:99999`), an address without brackets (`::1/x`); names of any length; and an
    /// empty tag or digest at the end (`host/name:`), which is dropped. The registry stays as it was written, except
    /// for an empty port (`host:/name`), which is dropped as it is on the wire.
    ///
    /// # Errors
    /// If a part is missing or malformed, or if the text names a tag or a digest.
    ///
    /// Spec: `OpenTofu` 1.12, ociauthconfig, `ParseRepositoryAddressPrefix`; oras-go 2.6, `registry.ParseReference`;
    /// Go 1.25, `url.ParseRequestURI` for the host.
    pub fn from_opentofu(input: &str) -> Result<Self, InvalidRepositoryRef> {
        let invalid = |reason| InvalidRepositoryRef { input: input.to_owned(), reason };
        // The checks below refuse every scheme, but with misleading reasons.
        if input.contains("://") {
            return Err(invalid(SCHEME));
        }
        let (registry, path) = input.split_once('/').ok_or_else(|| invalid(SHAPE))?;
        if !host_of_a_url(registry) {
            return Err(invalid(REGISTRY));
        }
        let (name, reference) = match path.split_once('@') {
            Some((before, digest)) => (before.split(':').next().unwrap_or(before), digest),
            None => path.split_once(':').unwrap_or((path, "")),
        };
        if !name.split('/').all(valid_component) {
            return Err(invalid(NAME));
        }
        if !reference.is_empty() {
            return Err(invalid(REFERENCE));
        }
        let registry = match registry.strip_suffix(':') {
            // Another colon belongs to an address without brackets, or makes another host of what is left.
            Some(host) if !host.is_empty() && (host.ends_with(']') || !host.contains(':')) => host,
            _ => registry,
        };
        Ok(Self::of(registry, name))
    }

    /// The registry's host, with its port if one is named.
    pub fn registry(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The registry's host without the port.
    pub fn registry_host(&self) -> &str {
        match self.registry().rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => self.registry(),
        }
    }

    /// The repository with the canonical name of its registry.
    pub(crate) fn canonical(&self) -> Self {
        Self::of(&crate::registry_host::canonical(self.registry()), self.name())
    }

    /// The repository's name inside the registry, such as `acme/opentofu-provider-widget`.
    pub fn name(&self) -> &str {
        &self.text[self.slash + 1..]
    }
}

const SCHEME: &str = "it is written without a scheme such as https://";
const SHAPE: &str = "it must read HOST/NAME, such as ghcr.io/acme/widget";
const REGISTRY: &str = "the part before the first `/` is not a host with an optional port";
const DOT: &str = "its host ends with a dot; write it without the dot";
const REFERENCE: &str = "it must name no tag and no digest";
const NAME: &str = "a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`";

impl FromStr for RepositoryRef {
    type Err = InvalidRepositoryRef;

    fn from_str(input: &str) -> Result<Self, InvalidRepositoryRef> {
        let invalid = |reason| InvalidRepositoryRef { input: input.to_owned(), reason };
        if input.contains("://") {
            return Err(invalid(SCHEME));
        }
        let (registry, name) = input.split_once('/').ok_or_else(|| invalid(SHAPE))?;
        if !valid_registry(registry) {
            let host = registry.split(':').next().unwrap_or(registry);
            let without_dot = host.strip_suffix('.').is_some_and(valid_registry);
            return Err(invalid(if without_dot { DOT } else { REGISTRY }));
        }
        if name.contains(['@', ':']) {
            return Err(invalid(REFERENCE));
        }
        if !name.split('/').all(valid_component) {
            return Err(invalid(NAME));
        }
        if registry.len() + 1 + name.len() > 255 {
            return Err(invalid("it is longer than 255 characters"));
        }
        Ok(Self::of(registry, name))
    }
}

/// Whether Go's URL parser gives back `registry` unchanged as the host of `dummy://registry`.
fn host_of_a_url(registry: &str) -> bool {
    let allowed =
        |byte: u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || b"!$&'()*+,;=:[]<>\"-_.~".contains(&byte);
    if registry.is_empty() || !registry.bytes().all(allowed) {
        return false;
    }
    let port = match registry.rfind('[') {
        Some(0) => {
            let Some((address, port)) = registry[1..].rsplit_once(']') else { return false };
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            port
        }
        Some(_) => return false,
        None => registry.rfind(':').map_or("", |colon| &registry[colon..]),
    };
    port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn valid_registry(registry: &str) -> bool {
    let (host, port) = if let Some(rest) = registry.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else { return false };
        let port = after.strip_prefix(':');
        if address.parse::<std::net::Ipv6Addr>().is_err() || (port.is_none() && !after.is_empty()) {
            return false;
        }
        ("ipv6", port)
    } else {
        match registry.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (registry, None),
        }
    };
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let port_ok = port.is_none_or(|port| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
    });
    host.split('.').all(label) && port_ok
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn valid_component(component: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if !alphanumeric(*first) || !alphanumeric(*last) {
        return false;
    }
    component
        .split(|character: char| character.is_ascii_lowercase() || character.is_ascii_digit())
        .filter(|separator| !separator.is_empty())
        .all(|separator| matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-'))
}

/// By registry, then by name.
impl Ord for RepositoryRef {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.registry(), self.name()).cmp(&(other.registry(), other.name()))
    }
}

impl PartialOrd for RepositoryRef {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for RepositoryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

text_value!(RepositoryRef);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Option<(&str, &str)>) {
        let got = input.parse::<RepositoryRef>();
        assert_eq!(got.as_ref().ok().map(|repository| (repository.registry(), repository.name())), want, "{input:?}");
        if let Err(error) = got {
            let shown = crate::masked(input).replace('\n', "\\n");
            assert!(error.to_string().contains(&shown), "{error}");
        }
    }

    #[test]
    fn values_of_a_query_were_repeated() {
        let error = "ghcr.io/acme/x?token=S3CRETpw".parse::<RepositoryRef>().expect_err("it has a query").to_string();
        assert!(error.starts_with("`ghcr.io/acme/x?token=***` is not"), "{error}");
    }

    #[test]
    fn takes_what_the_grammar_takes() {
        check("ghcr.io/acme/widget", Some(("ghcr.io", "acme/widget")));
        check("localhost/foo", Some(("localhost", "foo")));
        check("127.0.0.1:5000/a/b/c", Some(("127.0.0.1:5000", "a/b/c")));
        check("[::1]:5000/foo", Some(("[::1]:5000", "foo")));
        check("[::1]/foo", Some(("[::1]", "foo")));
        check("EXAMPLE.com/foo", Some(("EXAMPLE.com", "foo")));
        check("example.com/foo__bar/a---b/c.d_e", Some(("example.com", "foo__bar/a---b/c.d_e")));
    }

    #[test]
    fn refuses_what_could_leave_the_path_of_a_url() {
        for name in
            ["..", ".", "a/../b", "a/..", "a//b", "/a", "a/", "", "%2e%2e", "a?b", "a#b", "a;b", "a\\b", "a b", "a\n"]
        {
            check(&format!("example.com/{name}"), None);
        }
    }

    #[test]
    fn refuses_what_is_no_name() {
        for name in [
            "Foo",
            "foo___bar",
            "foo._bar",
            "a.-b",
            "-foo",
            "foo-",
            ".foo",
            "foo:tag",
            "foo:",
            "foo@",
            "föö",
            "foo@sha256:00",
        ] {
            check(&format!("example.com/{name}"), None);
        }
    }

    #[test]
    fn refuses_what_is_no_registry() {
        for registry in [
            "",
            "user@example.com",
            "user:pass@example.com",
            "exa mple.com",
            "example.com:x",
            "example.com:",
            "example.com:99999",
            "example.com?x",
            "example.com#x",
            "[::1]evil",
            "[::1]5000",
            "[::1",
            "::1",
            "..",
            "a..b",
            "-a.b",
            "a%2fb",
            "a\\b",
            "example.com:5000:1",
        ] {
            check(&format!("{registry}/foo"), None);
        }
        check("https://example.com/foo", None);
        check("oci://example.com/foo", None);
        check("example.com", None);
    }

    #[track_caller]
    fn check_opentofu(input: &str, want: Option<&str>) {
        let got = RepositoryRef::from_opentofu(input).ok().map(|repository| repository.to_string());
        assert_eq!(got.as_deref(), want, "{input:?}");
    }

    #[test]
    fn a_configuration_may_say_what_opentofu_lets_through() {
        for same in
            ["EXAMPLE.com/a", "example.com:99999/a", "::1/a", "[::1]:5000/a", "bücher.example/a", "a*b/c", "a_b/c"]
        {
            check_opentofu(same, Some(same));
        }
        check_opentofu("example.com:/a", Some("example.com/a"));
        check_opentofu("[::1]:/a", Some("[::1]/a"));
        check_opentofu("example.com/a:", Some("example.com/a"));
        check_opentofu("example.com/a@", Some("example.com/a"));
        check_opentofu("example.com/a:tag@", Some("example.com/a"));
        let long = format!("example.com/{}", "a".repeat(260));
        check_opentofu(&long, Some(&long));
        for text in [
            "example.com",
            "example.com/",
            "/a",
            "example.com/A",
            "example.com/a:1",
            "example.com/a@sha256:0",
            "u@example.com/a",
            "example.com:x/a",
            "exa mple.com/a",
            "a%41/b",
            "a?b/c",
            "a#b/c",
            "a\\b/c",
            "[::1/a",
            "x[::1]/a",
            "[1.2.3.4]/a",
            "[::1]x/a",
            "https://example.com/a",
            "example.com/a//b",
            "example.com/a..b",
            "example.com/a\n",
            "a\u{7f}/b",
        ] {
            check_opentofu(text, None);
        }
    }

    #[test]
    fn a_host_that_ends_with_two_colons_is_shown_as_another_one() {
        for same in ["example.c::/a", "::/a", "fe80::/a", "a:1:/a", "a:b:/a"] {
            check_opentofu(same, Some(same));
        }
    }

    #[test]
    fn the_host_is_told_without_its_port() {
        let host = |text: &str| text.parse::<RepositoryRef>().expect("a repository").registry_host().to_owned();
        assert_eq!(host("example.com:5000/a"), "example.com");
        assert_eq!(host("example.com/a"), "example.com");
        assert_eq!(host("[::1]:5000/a"), "[::1]");
        assert_eq!(host("[::1]/a"), "[::1]");
    }

    #[test]
    fn a_dot_at_the_end_of_the_host_is_refused() {
        for host in ["ghcr.io.", "ghcr.io.:443", "LOCALHOST.:5000"] {
            let error = format!("{host}/a").parse::<RepositoryRef>().expect_err("refused").to_string();
            assert!(error.ends_with("its host ends with a dot; write it without the dot"), "{error}");
        }
    }

    #[test]
    fn a_name_of_255_characters_is_the_longest() {
        assert!(format!("example.com/{}", "a".repeat(243)).parse::<RepositoryRef>().is_ok());
        assert!(format!("example.com/{}", "a".repeat(244)).parse::<RepositoryRef>().is_err());
    }

    proptest::proptest! {
        #[test]
        fn whatever_parses_is_a_plain_path(input in "[a-zA-Z0-9.:\\[\\]@_-]{1,8}/[a-z0-9./_%A-Z~-]{1,12}") {
            if let Ok(repository) = input.parse::<RepositoryRef>() {
                assert_eq!(repository.to_string(), input);
                for segment in repository.name().split('/') {
                    assert!(segment.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit()));
                    assert!(!segment.contains(".."), "{input:?}");
                }
                assert!(!repository.registry().contains(['/', '@', '?', '#', '\\', '%']), "{input:?}");
            }
        }
    }
}

//! Where the bridge is, as its clients write it.

use std::fmt;
use std::str::FromStr;

use tofu_oci_types::masked;
use url::{Position, Url};

/// The URL that every route begins with: `https://providers.example/`, or with a path, `https://example/tofu/`.
///
/// It is `http` or `https`, ends with a slash, and has neither user information nor a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A text that cannot be the URL of a bridge. It repeats no user information.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not the URL of a server: {}", .fault.reason())]
pub struct InvalidBaseUrl {
    input: String,
    fault: BaseUrlFault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum BaseUrlFault {
    NotAUrl,
    Scheme,
    UserInformation,
    QueryOrFragment,
    Path,
    /// The URL of the network mirror, and what stands before `mirror/`.
    Mirror(String),
}

impl InvalidBaseUrl {
    /// What to write instead.
    pub fn instead(&self) -> String {
        match &self.fault {
            BaseUrlFault::Mirror(base) => format!("write {base}"),
            _ => "write the address of the server without mirror/, such as https://providers.example.com/".to_owned(),
        }
    }
}

impl BaseUrlFault {
    fn reason(&self) -> &'static str {
        match self {
            Self::NotAUrl => "it must read https://HOST[:PORT]/[PATH/]",
            Self::Scheme => "it must begin with https:// or http://",
            Self::UserInformation => "it must not contain a login",
            Self::QueryOrFragment => "it must contain neither ? nor #",
            Self::Path => "its path may contain only letters, digits, dashes, dots and underscores",
            Self::Mirror(_) => "it ends with mirror/, which the server adds for its network mirror",
        }
    }
}

impl BaseUrl {
    /// The URL of a route, which begins without a slash.
    pub fn join(&self, route: &str) -> String {
        format!("{}{}", self.0, route.trim_start_matches('/'))
    }

    /// The host, and the port unless it is that of the scheme.
    pub fn authority(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }

    /// The same over TLS.
    pub fn over_tls(&self) -> String {
        self.0.as_str().replacen("http://", "https://", 1)
    }

    /// Whether clients reach it over TLS.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The path that every route begins with; `/` alone for a URL without a path.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The path of a request below the URL. A proxy may have cut the URL's path off.
    pub(crate) fn strip<'p>(&self, path: &'p str) -> &'p str {
        let prefix = self.path().trim_end_matches('/');
        path.strip_prefix(prefix).filter(|rest| rest.starts_with('/')).unwrap_or(path)
    }
}

impl FromStr for BaseUrl {
    type Err = InvalidBaseUrl;

    fn from_str(input: &str) -> Result<Self, InvalidBaseUrl> {
        parse(input).map(Self).map_err(|fault| InvalidBaseUrl { input: masked(input), fault })
    }
}

/// A slash that is missing at the end is added: it means nothing else.
fn parse(input: &str) -> Result<Url, BaseUrlFault> {
    let mut url = Url::parse(input).map_err(|_| BaseUrlFault::NotAUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BaseUrlFault::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BaseUrlFault::UserInformation);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(BaseUrlFault::QueryOrFragment);
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte);
    if !url.path().bytes().all(plain) || url.path().contains("//") {
        return Err(BaseUrlFault::Path);
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    if let Some(before) = url.path().strip_suffix("/mirror/") {
        let path = format!("{before}/");
        url.set_path(&path);
        return Err(BaseUrlFault::Mirror(url.into()));
    }
    Ok(url)
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: &str) {
        let got = input.parse::<BaseUrl>();
        assert_eq!(got.map_or_else(|error| error.to_string(), |url| url.to_string()), want, "{input:?}");
    }

    #[test]
    fn urls_of_a_server() {
        check("https://providers.example", "https://providers.example/");
        check("https://providers.example:8443/tofu", "https://providers.example:8443/tofu/");
        check("HTTP://127.0.0.1:8080/", "http://127.0.0.1:8080/");
        check(
            "providers.example",
            "`providers.example` is not the URL of a server: it must read https://HOST[:PORT]/[PATH/]",
        );
        check("oci://x/", "`oci://x/` is not the URL of a server: it must begin with https:// or http://");
        check("https://u:p@x/", "`https://***@x/` is not the URL of a server: it must not contain a login");
        check("https://x/?tag=q", "`https://x/?tag=q` is not the URL of a server: it must contain neither ? nor #");
        check(
            "https://x/a//b",
            "`https://x/a//b` is not the URL of a server: its path may contain only letters, digits, dashes, dots and underscores",
        );
    }

    #[test]
    fn the_url_of_the_mirror_was_taken_for_that_of_the_server() {
        for (input, base) in [
            ("https://x/mirror/", "https://x/"),
            ("https://x/mirror", "https://x/"),
            ("https://x:8443/tofu/mirror/", "https://x:8443/tofu/"),
        ] {
            let error = input.parse::<BaseUrl>().unwrap_err();
            let text = format!(
                "`{input}` is not the URL of a server: it ends with mirror/, which the server adds for its network mirror"
            );
            assert_eq!((error.to_string(), error.instead()), (text, format!("write {base}")));
        }
        check("https://x/mirrors/", "https://x/mirrors/");
        check("https://x/mirror/tofu/", "https://x/mirror/tofu/");
    }

    #[test]
    fn a_path_may_be_cut_off_by_a_proxy() {
        let base: BaseUrl = "https://x/tofu/".parse().unwrap();
        for (path, want) in [
            ("/tofu/mirror/a", "/mirror/a"),
            ("/mirror/a", "/mirror/a"),
            ("/tofu", "/tofu"),
            ("/tofu/", "/"),
            ("/tofux/", "/tofux/"),
        ] {
            assert_eq!(base.strip(path), want);
        }
        assert_eq!("https://x".parse::<BaseUrl>().unwrap().strip("/mirror/"), "/mirror/");
        assert_eq!(base.join("/mirror/"), "https://x/tofu/mirror/");
    }
}

//! What can be wrong with a `serve.toml`.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use tofu_oci_mapper::TemplateOf;
use tofu_oci_mirror::{InvalidMinAge, RulesProblem};
use tofu_oci_types::{
    Hostname, InvalidByteSize, InvalidHostname, InvalidModulePattern, InvalidPredecessor, ModulePattern, Pattern,
};

use crate::{InvalidBaseUrl, InvalidClientName, InvalidTokenDigest};

/// A file of settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct BridgeConfigError {
    /// The place in the text, in bytes, if it has one.
    pub span: Option<Range<usize>>,
    pub problem: BridgeConfigProblem,
}

/// What is wrong with settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeConfigProblem {
    /// It is not TOML, has an unknown member, or has a value of another kind.
    #[error("{message}")]
    Syntax { message: String },
    /// A text where a list belongs.
    #[error("{text} must be a list")]
    NotAList { text: String },
    /// One `[provider]` or `[client]`.
    #[error("[{name}] is a table, and the file has a list of them")]
    OneTable { name: &'static str },
    /// There is neither a `[[provider]]` nor a `[[module]]`.
    #[error("the file names neither a provider nor a module")]
    NoProvider,
    #[error("the list `{name}` is empty")]
    EmptyList { name: &'static str },
    /// A pattern, or a version that is allowed or denied.
    #[error(transparent)]
    Rule(RulesProblem),
    #[error("two places are for {pattern}")]
    TwoPlaces { pattern: Pattern },
    #[error(transparent)]
    ModulePattern(InvalidModulePattern),
    #[error("two places are for {pattern}")]
    TwoModulePlaces { pattern: ModulePattern },
    #[error("`{name}` is for what is fetched, and the [[{}]] has no `upstream`", table(*of))]
    NoUpstream { name: &'static str, of: TemplateOf },
    #[error("{text:?} is not an IP address with a port")]
    Listen { text: String },
    #[error("{address} is not this machine alone, and without [tls] the connection would be in clear text")]
    ClearText { address: SocketAddr },
    #[error("`url` begins with http://, and with [tls] the server speaks https:// alone")]
    PlainUrl { instead: String },
    /// A URL that clients cannot write.
    #[error(transparent)]
    Url(InvalidBaseUrl),
    /// Not a hostname.
    #[error(transparent)]
    Host(InvalidHostname),
    /// A hostname that is listed twice.
    #[error("{host} is listed twice")]
    TwoHosts { host: Hostname },
    #[error("no [[provider]] or [[module]] includes anything of the own host {host}")]
    EmptyHost { host: Hostname },
    #[error("{text:?} is not a kind of checksum that a network mirror lists")]
    Hash { text: String },
    #[error("`hashes` lacks \"zh\", which lock files need for every platform")]
    NoZipHash,
    #[error("{text:?} is not an IP address or a range of them")]
    Range { text: String },
    /// Not a host and its predecessor.
    #[error(transparent)]
    Predecessor(InvalidPredecessor),
    /// Not a size.
    #[error("{text:?} is not a size; {reason}")]
    Size { text: String, reason: InvalidByteSize },
    #[error("`{text}` is not a length of time; write a number with d, h, m or s, such as 60s or 15m")]
    Duration { text: String },
    #[error("{text:?} is too long; the longest is 36500d")]
    TooLong { text: String },
    /// Not an age.
    #[error(transparent)]
    MinAge(InvalidMinAge),
    #[error("`{name}` must be at least {least}")]
    TooSmall { name: &'static str, least: &'static str },
    #[error(transparent)]
    ClientName(InvalidClientName),
    /// Not a SHA-256; perhaps the token itself, which is not repeated.
    #[error("`token_sha256` is wrong: {0}")]
    TokenHash(InvalidTokenDigest),
    #[error("the client has neither `providers` nor `modules`")]
    SeesNothing,
    #[error("two clients have the same token")]
    OneToken,
    #[error("`all` keeps every archive here, and `redirect` sends clients elsewhere for them")]
    KeptAndSentAway,
}

impl BridgeConfigProblem {
    /// Whether the text at its place may be a secret, which no message repeats.
    pub fn is_about_a_secret(&self) -> bool {
        matches!(self, Self::TokenHash(_) | Self::OneToken | Self::Url(_) | Self::Rule(RulesProblem::Attestations(_)))
    }

    /// What to do, if the problem does not say it.
    pub fn instead(&self) -> Option<String> {
        Some(match self {
            Self::NotAList { text } => match text.trim_matches(['"', '\'']).trim_start_matches(':').parse::<u16>() {
                Ok(port) => format!("write an address, in brackets: [\"127.0.0.1:{port}\"]"),
                Err(_) => format!("write it in brackets: [{text}]"),
            },
            Self::OneTable { name } => format!("write [[{name}]], with two brackets"),
            Self::NoProvider => {
                "write [[provider]] with include = [\"HOST/NAMESPACE/*\"] and from = \"REGISTRY/${namespace}/${type}\", or \
                 [[module]] with include = [\"HOST/NAMESPACE/*/*\"] and from = \"REGISTRY/${namespace}/${name}-${target_system}\""
                    .to_owned()
            }
            Self::EmptyList { name } => format!("omit `{name}`, or name something"),
            Self::Rule(problem) => return problem.instead(),
            Self::MinAge(error) => return error.instead(),
            Self::Duration { text } => return text.parse::<u64>().ok().map(|n| format!("write \"{n}s\" for seconds")),
            Self::TwoPlaces { .. } => {
                "write one [[provider]] for the pattern; `upstream` names where it fetches from".to_owned()
            }
            Self::ModulePattern(error) => error.instead().to_owned(),
            Self::TwoModulePlaces { .. } => {
                "write one [[module]] for the pattern; `upstream` names where it fetches from".to_owned()
            }
            Self::SeesNothing => "write providers = [\"*/*/*\"], modules = [\"*/*/*/*\"], or both".to_owned(),
            Self::NoUpstream { name, of } => {
                let each = table(*of);
                format!("omit `{name}`, or write upstream = [\"direct\"] to fetch from the host of each {each}")
            }
            Self::Listen { text } => listen_instead(text),
            Self::ClearText { .. } => {
                "write [tls] with `certificate` and `key`; or plain_http = true if a proxy in front speaks TLS"
                    .to_owned()
            }
            Self::PlainUrl { instead } => format!("write url = {instead:?}, or take out [tls] if a proxy in front speaks TLS"),
            Self::Url(error) => error.instead(),
            Self::EmptyHost { host } => format!(
                "write [[provider]] with include = [\"{host}/*/*\"], or [[module]] with include = [\"{host}/*/*/*\"]",
                host = host.display()
            ),
            Self::Hash { .. } => "write hashes = [\"zh\"] or [\"zh\", \"h1\"]".to_owned(),
            Self::NoZipHash => "write hashes = [\"zh\", \"h1\"]".to_owned(),
            Self::KeptAndSentAway => "omit `redirect`, or `all` in the [cache]".to_owned(),
            Self::Range { .. } => "write 10.0.0.5 or 10.0.0.0/8".to_owned(),
            Self::TokenHash(_) | Self::OneToken => {
                "tofu-oci serve --new-token prints a new token and its `token_sha256`".to_owned()
            }
            _ => return None,
        })
    }
}

/// The table that such addresses have in the file.
fn table(of: TemplateOf) -> &'static str {
    match of {
        TemplateOf::Providers => "provider",
        TemplateOf::Modules => "module",
    }
}

/// What to write for an address to listen at, instead of a port, a name or a URL.
pub fn listen_instead(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('/');
    let alone = rest.trim_start_matches('[').trim_end_matches(']');
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if alone.parse::<IpAddr>().is_err() => (host, port),
        _ if rest.starts_with(|first: char| first.is_ascii_digit()) && !rest.contains('.') => ("", rest),
        _ => (rest, "8080"),
    };
    let Ok(port) = port.parse::<u16>() else {
        return "write 127.0.0.1:8080, 0.0.0.0:8443 or [::]:8443; ports end at 65535".to_owned();
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(ip) => format!("write {}", SocketAddr::new(ip, port)),
        Err(_) if host == "localhost" => format!("write 127.0.0.1:{port}"),
        Err(_) if host.is_empty() || host == "*" => {
            format!("write 127.0.0.1:{port} for this machine alone, or 0.0.0.0:{port} for its networks, too")
        }
        Err(_) => format!("write an IP address of this machine, such as 127.0.0.1:{port} or 0.0.0.0:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_was_answered_with_the_words_of_a_parser() {
        let both = "write 127.0.0.1:42030 for this machine alone, or 0.0.0.0:42030 for its networks, too";
        for text in ["42030", ":42030", "*:42030"] {
            assert_eq!(listen_instead(text), both, "{text}");
        }
        assert_eq!(listen_instead("http://localhost:42030/"), "write 127.0.0.1:42030");
        assert_eq!(listen_instead("localhost"), "write 127.0.0.1:8080");
        assert_eq!(listen_instead("10.0.0.1"), "write 10.0.0.1:8080");
        assert_eq!(listen_instead("[::1]"), "write [::1]:8080");
        assert_eq!(listen_instead("::1"), "write [::1]:8080");
        assert!(listen_instead("0.0.0.0:99999").ends_with("ports end at 65535"));
        let name = "write an IP address of this machine, such as 127.0.0.1:80 or 0.0.0.0:80";
        assert_eq!(listen_instead("registry.example.com:80"), name);
    }
}

//! Names of hosts as options take them.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv6Addr};

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use tofu_oci_types::RepositoryRef;

/// Reads `HOST` or `HOST:PORT`; blanks around it and the dot that ends a whole name do not count, and an IPv6 address may lack
/// its brackets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostParser;

/// What is wrong with a host, and what to write. Never contains the text before an `@`.
#[derive(Debug, PartialEq, Eq)]
struct HostFault {
    shown: String,
    problem: &'static str,
    instead: Option<String>,
}

impl HostParser {
    fn read(text: &str) -> Result<String, HostFault> {
        let text = text.trim();
        if text.parse::<Ipv6Addr>().is_ok() {
            return Ok(format!("[{text}]"));
        }
        let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
        let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
        // The text before an `@`, wherever that is, may be a password.
        let host = text.rsplit_once('@').map_or(authority, |(_, after)| after.split('/').next().unwrap_or_default());
        let host: &str = &without_dot(host);
        let problem = match (scheme, path) {
            _ if text.is_empty() => "it is empty",
            _ if ["true", "false"].contains(&text) => {
                let (shown, problem) = (text.to_owned(), "it takes the host that it is for");
                return Err(HostFault { shown, problem, instead: None });
            }
            _ if text.contains('@') => "it is the host alone, without a user",
            (None, Some(length)) if is_range(host, length) => {
                let (shown, problem) = (text.to_owned(), "it is a range, and each host is named by itself");
                return Err(HostFault { shown, problem, instead: None });
            }
            (Some(_), _) => "it is written without a scheme such as https://",
            (None, Some(_)) => "it is the host alone, without a path",
            _ if !is_host(host) => "it is not a host",
            _ => return Ok(host.to_owned()),
        };
        let shown = if text.contains('@') { host } else { text };
        let instead = [host, without_port(host)].into_iter().find(|host| is_host(host)).map(str::to_owned);
        Err(HostFault { shown: shown.to_owned(), problem, instead })
    }
}

impl TypedValueParser for HostParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        Self::read(&value.to_string_lossy()).map_err(|HostFault { shown, problem, instead }| {
            let option = arg.and_then(Arg::get_long).unwrap_or_default();
            let form = "HOST or HOST:PORT, such as registry.example.com:5000";
            let instead = instead.unwrap_or_else(|| form.to_owned());
            let text = format!("--{option} cannot be `{}`: {problem}\n\nhint: write {instead}\n", shown.escape_debug());
            Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }
}

/// The host without the dot that ends a whole name; error messages name hosts as they were named, with it.
fn without_dot(host: &str) -> String {
    let bare = without_port(host);
    let port = host.strip_prefix(bare).unwrap_or_default();
    format!("{}{port}", bare.strip_suffix('.').unwrap_or(bare))
}

/// Whether an address and what comes after a slash are a range of addresses.
fn is_range(host: &str, length: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok() && length.parse::<u8>().is_ok()
}

/// The host without its port; the brackets of an address stay.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((bare, port)) if !port.contains(']') => bare,
        _ => host,
    }
}

/// Whether repositories can begin so.
fn is_host(host: &str) -> bool {
    let port = host.strip_prefix(without_port(host)).unwrap_or_default();
    !port.starts_with(":0")
        && !host.contains('/')
        && format!("{host}/x").parse::<RepositoryRef>().is_ok_and(|repository| repository.registry() == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, (&str, &str, Option<&str>)>) {
        let got = HostParser::read(text);
        let got = got
            .as_deref()
            .map_err(|HostFault { shown, problem, instead }| (shown.as_str(), *problem, instead.as_deref()));
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn a_host_is_taken_without_the_blanks_around_it() {
        for host in ["auth.example.com", "localhost", "[::1]", "127.0.0.1", "localhost:5000", "[::1]:5000"] {
            check(host, Ok(host));
        }
        check(" auth.example.com\t", Ok("auth.example.com"));
        check("10.0.0.1:5001", Ok("10.0.0.1:5001"));
    }

    #[test]
    fn an_address_needs_no_brackets_without_a_port() {
        check("::1", Ok("[::1]"));
        check(" fd00::1 ", Ok("[fd00::1]"));
    }

    #[test]
    fn what_is_no_host_is_not_taken_in_silence() {
        let scheme = "it is written without a scheme such as https://";
        check("https://a.example", Err(("https://a.example", scheme, Some("a.example"))));
        check("http://a.example:80/", Err(("http://a.example:80/", scheme, Some("a.example:80"))));
        check("", Err(("", "it is empty", None)));
        check(" ", Err(("", "it is empty", None)));
        check("a.example/b", Err(("a.example/b", "it is the host alone, without a path", Some("a.example"))));
        check("false", Err(("false", "it takes the host that it is for", None)));
        check("*", Err(("*", "it is not a host", None)));
        check("*.example", Err(("*.example", "it is not a host", None)));
        check("a.example:x", Err(("a.example:x", "it is not a host", Some("a.example"))));
        check("a.example:0443", Err(("a.example:0443", "it is not a host", Some("a.example"))));
    }

    #[test]
    fn a_host_that_a_message_named_with_its_dot_was_not_taken() {
        check("a.example.", Ok("a.example"));
        check("a.example.:5000", Ok("a.example:5000"));
        check("a.example..", Err(("a.example..", "it is not a host", None)));
        check(".", Err((".", "it is not a host", None)));
    }

    #[test]
    fn a_range_of_addresses_was_taken_for_its_first_one() {
        let range = "it is a range, and each host is named by itself";
        for text in ["10.0.0.0/8", "fd00::/8", "[fd00::]/8", "192.168.1.1/32"] {
            check(text, Err((text, range, None)));
        }
    }

    #[test]
    fn what_stands_before_an_at_is_never_repeated() {
        let user = "it is the host alone, without a user";
        check("ada:SECRET@a.example", Err(("a.example", user, Some("a.example"))));
        check("https://ada:SEC/RET@a.example:5/x", Err(("a.example:5", user, Some("a.example:5"))));
        check("ada:SECRET@", Err(("", user, None)));
    }
}

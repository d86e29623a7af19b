//! Hostnames of provider registries.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use crate::idn;
use crate::text_value::text_value;

/// A host, with its port unless that is 443, kept in comparison form (lower case, punycode).
///
/// `Display` gives the comparison form; [`Hostname::display`] the one for people and folders (Unicode). Neither
/// contains a path separator, and neither is `.` or `..`.
///
/// One host has one value, so that a rule for the host holds however the host is written. Therefore this is stricter
/// than `OpenTofu`: no name ends with a dot, an IPv4 address is four decimal numbers, a port is never negative, and no
/// label is empty after normalisation either.
///
/// Spec: opentofu/svchost; `OpenTofu` 1.12.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hostname(String);

/// A text that is not a hostname.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a hostname: {}", .fault.reason())]
#[fault(of = fault)]
pub struct InvalidHostname {
    input: String,
    fault: HostnameFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[fault(named)]
enum HostnameFault {
    Empty,
    EmptyLabel,
    BadPort,
    PortRange,
    UrlNotHost,
    PunycodeGiven,
    Idna,
    TrailingDot,
    AmbiguousAddress,
}

impl HostnameFault {
    fn reason(self) -> &'static str {
        match self {
            Self::Empty => "it is empty",
            Self::EmptyLabel => "there is nothing between two of its dots",
            Self::BadPort => "after the colon there must be a port number",
            Self::PortRange => "the port is above 65535",
            Self::UrlNotHost => "it is written without a scheme such as https://",
            Self::PunycodeGiven => "a name beginning with xn-- is written in Unicode here",
            Self::Idna => "it may contain only letters, digits, dots, and dashes between them",
            Self::TrailingDot => "it ends with a dot; write it without the dot",
            Self::AmbiguousAddress => "an IPv4 address is four decimal numbers from 0 to 255 without leading zeros",
        }
    }
}

impl InvalidHostname {
    /// What is wrong, without the input.
    pub(crate) fn reason(&self) -> &'static str {
        self.fault.reason()
    }

    /// Whether `OpenTofu` accepts the text as a hostname, but of another host.
    pub fn passes_opentofu(&self) -> bool {
        matches!(self.fault, HostnameFault::TrailingDot | HostnameFault::AmbiguousAddress)
    }
}

impl Hostname {
    /// `registry.opentofu.org`, the host of an address without a host.
    pub fn default_registry() -> Self {
        Self("registry.opentofu.org".to_owned())
    }

    /// The host of a URL, or of a variable's name: punycode, which files may not hold, is as good as what it means.
    ///
    /// # Errors
    /// As for a text of a file.
    pub fn with_punycode(input: &str) -> Result<Self, InvalidHostname> {
        // An upper-case prefix is not taken for punycode that a person has written.
        let readable =
            |label: &str| label.strip_prefix("xn--").map_or_else(|| label.to_owned(), |rest| format!("Xn--{rest}"));
        input.split('.').map(readable).collect::<Vec<_>>().join(".").parse()
    }

    /// The comparison form: punycode, with `:PORT` unless 443.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form for people, lock files and folders: Unicode.
    pub fn display(&self) -> String {
        match self.0.split_once(':') {
            Some((host, port)) => format!("{}:{port}", idn::host_to_unicode(host)),
            None => idn::host_to_unicode(&self.0),
        }
    }
}

impl FromStr for Hostname {
    type Err = InvalidHostname;

    fn from_str(input: &str) -> Result<Self, InvalidHostname> {
        parse(input).map(Self).map_err(|fault| InvalidHostname { input: input.to_owned(), fault })
    }
}

fn parse(input: &str) -> Result<String, HostnameFault> {
    let (host, port) = match input.split_once(':') {
        Some((host, text)) => (host, parse_port(host, text)?),
        None => (input, None),
    };
    if host.is_empty() {
        return Err(HostnameFault::Empty);
    }
    check_labels(host)?;
    if host.split('.').any(|label| label.starts_with("xn--")) {
        return Err(HostnameFault::PunycodeGiven);
    }
    let ascii = idn::host_to_ascii(host).ok_or(HostnameFault::Idna)?;
    check_labels(&ascii)?;
    if ascii.ends_with('.') {
        return Err(HostnameFault::TrailingDot);
    }
    if ends_in_a_number(&ascii) && ascii.parse::<Ipv4Addr>().is_err() {
        return Err(HostnameFault::AmbiguousAddress);
    }
    Ok(match port {
        Some(port) => format!("{ascii}:{port}"),
        None => ascii,
    })
}

/// The port to write; `None` for 443. A leading `+` and leading zeros are tolerated, as in Go.
fn parse_port(host: &str, text: &str) -> Result<Option<u16>, HostnameFault> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let number = if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse::<i64>().ok() } else { None };
    let Some(number) = number else {
        return Err(if matches!(host, "http" | "https") { HostnameFault::UrlNotHost } else { HostnameFault::BadPort });
    };
    let port = u16::try_from(number).map_err(|_| HostnameFault::PortRange)?;
    Ok((port != 443).then_some(port))
}

/// Whether a URL with this host has an IPv4 address, such as `127.1` and `0x7f000001`, or no address at all.
///
/// Spec: WHATWG URL, "ends in a number checker".
fn ends_in_a_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let is_hexadecimal = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    last.bytes().all(|byte| byte.is_ascii_digit()) || last.strip_prefix("0x").is_some_and(is_hexadecimal)
}

/// No label is empty, except after one dot at the end, which is checked later.
fn check_labels(host: &str) -> Result<(), HostnameFault> {
    let rooted = host.strip_suffix('.').unwrap_or(host);
    if rooted.split('.').any(str::is_empty) { Err(HostnameFault::EmptyLabel) } else { Ok(()) }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_value!(Hostname);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<&str, &str>) {
        let got = input.parse::<Hostname>().map_err(|error| error.code());
        assert_eq!(got.as_ref().map(Hostname::as_str).map_err(|code| *code), want, "{input:?}");
    }

    #[test]
    fn ports_are_numbers_from_0_to_65535() {
        check("example.com:-5", Err("bad-port"));
        check("example.com:-0", Err("bad-port"));
        check("example.com:+-5", Err("bad-port"));
        check("example.com:", Err("bad-port"));
        check("example.com:+", Err("bad-port"));
        check("example.com:1_0", Err("bad-port"));
        check("example.com:99999999999999999999999", Err("bad-port"));
        check("example.com:65536", Err("port-range"));
        check("example.com:+0443", Ok("example.com"));
        check("example.com:5000", Ok("example.com:5000"));
        check("[::1]:80", Err("bad-port"));
        check("http://example.com", Err("url-not-host"));
    }

    #[test]
    fn no_label_is_empty_after_normalisation() {
        check("\u{ff0e}", Err("empty-label"));
        check("\u{ff0e}\u{ff0e}", Err("empty-label"));
        check(".", Err("empty-label"));
        check("..", Err("empty-label"));
        check("example\u{3002}\u{3002}com", Err("empty-label"));
    }

    #[test]
    fn a_dot_at_the_end_is_refused_because_it_names_the_host_without_it() {
        for host in [
            "example.com.",
            "example.com.:8080",
            "example.com.:443",
            "EXAMPLE.com.",
            "localhost.",
            "b\u{fc}cher.example.",
        ] {
            check(host, Err("trailing-dot"));
        }
        for dot in ['\u{3002}', '\u{ff0e}', '\u{ff61}'] {
            check(&format!("example.com{dot}"), Err("trailing-dot"));
            check(&format!("example.com{dot}:8080"), Err("trailing-dot"));
        }
        check("127.0.0.1.", Err("trailing-dot"));
        let error = "Example.com.:8080".parse::<Hostname>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`Example.com.:8080` is not a hostname: it ends with a dot; write it without the dot"
        );
        assert!(error.passes_opentofu());
        assert!(!"a..b".parse::<Hostname>().unwrap_err().passes_opentofu());
    }

    #[test]
    fn two_dots_at_the_end_are_refused_which_opentofu_lets_through() {
        check("example.com..", Err("empty-label"));
        check("example.com..:8080", Err("empty-label"));
        check("example.com.\u{3002}", Err("empty-label"));
    }

    #[test]
    fn an_ipv4_address_has_one_spelling() {
        check("127.0.0.1", Ok("127.0.0.1"));
        check("127.0.0.1:8080", Ok("127.0.0.1:8080"));
        check("\u{ff11}27.0.0.1", Ok("127.0.0.1"));
        for host in [
            "127.1",
            "0x7f.0.0.1",
            "0x7F000001",
            "2130706433",
            "0177.0.0.1",
            "127.0.0.01",
            "127.0.1:8080",
            "1.2.3.4.5",
            "256.0.0.1",
            "0x",
        ] {
            check(host, Err("ambiguous-address"));
        }
        for name in ["1.example", "0x7f.example", "a1", "x0x1", "1a"] {
            check(name, Ok(name));
        }
    }

    #[test]
    fn a_host_has_one_spelling_however_it_is_typed() {
        let same = |spellings: &[&str], want: &str| spellings.iter().for_each(|spelling| check(spelling, Ok(want)));
        same(&["example.com", "EXAMPLE.com", "example.com:443", "example.com:0443", "example.com:+443"], "example.com");
        same(&["\u{ff45}xample.com", "example\u{3002}com", "exam\u{ad}ple.com", "exam\u{200b}ple.com"], "example.com");
        same(
            &["b\u{fc}cher.example", "bu\u{308}cher.example", "B\u{dc}CHER.example", "Xn--bcher-kva.example"],
            "xn--bcher-kva.example",
        );
        for host in
            [" example.com", "example.com ", "example.com\n", "\texample.com", "example.com\u{a0}", "example.com\0"]
        {
            check(host, Err("idna"));
        }
        for host in ["[::1]", "::1", "[::ffff:127.0.0.1]", "example.com: 443", "example.com:443 "] {
            check(host, Err("bad-port"));
        }
        for host in ["a..b", ".example.com", "example.com..:1"] {
            check(host, Err("empty-label"));
        }
    }

    #[test]
    fn punycode_for_nothing_is_refused_which_opentofu_lets_through() {
        check("Xn--", Err("idna"));
        check("Xn--.example.com", Err("idna"));
        check("xn\u{ff0d}\u{ff0d}.example.com", Err("idna"));
        check("Xn--80akhbyknj4f-.com", Err("idna"));
    }

    #[test]
    fn only_lower_case_punycode_is_refused_as_by_the_original() {
        check("xn--fiq228c.com", Err("punycode-given"));
        check("Xn--fiq228c.com", Ok("xn--fiq228c.com"));
    }
}

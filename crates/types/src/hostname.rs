//! Hostnames of provider registries.

use std::fmt;
use std::str::FromStr;

use crate::idn;
use crate::serde_text::serde_as_text;

/// A host, with its port unless that is 443, kept in comparison form (lower case, punycode).
///
/// `Display` gives the comparison form; [`Hostname::display`] the one for people and folders (Unicode). Neither
/// contains a path separator, and neither is `.` or `..`.
///
/// Stricter than `OpenTofu` in two points: a port is never negative, and no label is empty after normalisation
/// either.
///
/// Spec: opentofu/svchost; `OpenTofu` 1.12.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hostname(String);

/// A text that is no hostname.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a hostname: {}", .fault.reason())]
pub struct InvalidHostname {
    input: String,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Empty,
    EmptyLabel,
    BadPort,
    PortRange,
    UrlNotHost,
    PunycodeGiven,
    Idna,
}

impl Fault {
    fn reason(self) -> &'static str {
        match self {
            Self::Empty => "it is empty",
            Self::EmptyLabel => "there is nothing between two of its dots",
            Self::BadPort => "after the colon there must be a port number",
            Self::PortRange => "the port is above 65535",
            Self::UrlNotHost => "it is written without a scheme such as https://",
            Self::PunycodeGiven => "a name beginning with xn-- is written in Unicode here",
            Self::Idna => "it may contain only letters, digits, dots, and dashes between them",
        }
    }
}

impl InvalidHostname {
    /// What is wrong, without the text that was given.
    pub(crate) fn reason(&self) -> &'static str {
        self.fault.reason()
    }

    /// A stable kebab-case name of the fault.
    pub fn code(&self) -> &'static str {
        match self.fault {
            Fault::Empty => "empty",
            Fault::EmptyLabel => "empty-label",
            Fault::BadPort => "bad-port",
            Fault::PortRange => "port-range",
            Fault::UrlNotHost => "url-not-host",
            Fault::PunycodeGiven => "punycode-given",
            Fault::Idna => "idna",
        }
    }
}

impl Hostname {
    /// `registry.opentofu.org`, which an address without a host belongs to.
    pub fn default_registry() -> Self {
        Self("registry.opentofu.org".to_owned())
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

fn parse(input: &str) -> Result<String, Fault> {
    let (host, port) = match input.split_once(':') {
        Some((host, text)) => (host, parse_port(host, text)?),
        None => (input, None),
    };
    if host.is_empty() {
        return Err(Fault::Empty);
    }
    check_labels(host)?;
    if host.split('.').any(|label| label.starts_with("xn--")) {
        return Err(Fault::PunycodeGiven);
    }
    let ascii = idn::host_to_ascii(host).ok_or(Fault::Idna)?;
    check_labels(&ascii)?;
    Ok(match port {
        Some(port) => format!("{ascii}:{port}"),
        None => ascii,
    })
}

/// The port to write, which 443 is not. A leading `+` and leading zeros are tolerated, as by Go.
fn parse_port(host: &str, text: &str) -> Result<Option<u16>, Fault> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let number = if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse::<i64>().ok() } else { None };
    let Some(number) = number else {
        return Err(if matches!(host, "http" | "https") { Fault::UrlNotHost } else { Fault::BadPort });
    };
    let port = u16::try_from(number).map_err(|_| Fault::PortRange)?;
    Ok((port != 443).then_some(port))
}

/// One dot may end the name; otherwise no label is empty.
fn check_labels(host: &str) -> Result<(), Fault> {
    let rooted = host.strip_suffix('.').unwrap_or(host);
    if rooted.split('.').any(str::is_empty) { Err(Fault::EmptyLabel) } else { Ok(()) }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

serde_as_text!(Hostname);

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
        check("example.com\u{3002}", Ok("example.com."));
    }

    #[test]
    fn two_dots_at_the_end_are_refused_which_opentofu_lets_through() {
        check("example.com..", Err("empty-label"));
        check("example.com..:8080", Err("empty-label"));
        check("example.com.\u{3002}", Err("empty-label"));
        check("example.com.", Ok("example.com."));
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

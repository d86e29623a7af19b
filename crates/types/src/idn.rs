//! Internationalised text as Go's `idna` "Lookup" profile reads it, with its holes closed.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// UTS 46 processing: non-transitional, STD3 ASCII rules, hyphen checks, joiner and Bidi rules, no length limit.
const UTS46: Uts46 = Uts46::new();

/// Why a text is no namespace and no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartFault {
    Empty,
    Dots,
    DoubleDash,
    Charset,
}

impl PartFault {
    #[cfg(test)]
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Dots => "dots",
            Self::DoubleDash => "double-dash",
            Self::Charset => "charset",
        }
    }

    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::Dots => "contains a dot",
            Self::DoubleDash => "contains two dashes in a row",
            Self::Charset => "may contain only letters, digits, and dashes between them",
        }
    }
}

/// The normal form of a namespace or type.
///
/// `OpenTofu` looks for dots and double dashes in the raw text only, so that full-width ones pass and become `.` and
/// `--`, or are even decoded as punycode. Here the mapped text is looked at too.
pub(crate) fn part(input: &str) -> Result<String, PartFault> {
    let check = |text: &str| match text {
        "" => Err(PartFault::Empty),
        text if text.contains('.') => Err(PartFault::Dots),
        text if text.contains("--") => Err(PartFault::DoubleDash),
        _ => Ok(()),
    };
    check(input)?;
    let (normal, result) = UTS46.to_unicode(input.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    result.map_err(|_| PartFault::Charset)?;
    check(&normal)?;
    check(&mapped(input))?;
    Ok(normal.into_owned())
}

/// What every character on its own is mapped to: the text as it is before labels are told apart and decoded.
fn mapped(input: &str) -> String {
    input
        .chars()
        .map(|character| {
            let mut buffer = [0; 4];
            let text = character.encode_utf8(&mut buffer).as_bytes();
            UTS46.to_unicode(text, AsciiDenyList::EMPTY, Hyphens::Allow).0.into_owned()
        })
        .collect()
}

/// A host without its port in comparison form (lower case, punycode); nothing where it is not allowed.
pub(crate) fn host_to_ascii(host: &str) -> Option<String> {
    let ascii = UTS46.to_ascii(host.as_bytes(), AsciiDenyList::STD3, Hyphens::Check, DnsLength::Ignore).ok()?;
    Some(ascii.into_owned())
}

/// A host in comparison form, for people.
pub(crate) fn host_to_unicode(host: &str) -> String {
    let (unicode, result) = UTS46.to_unicode(host.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    // What cannot be shown in Unicode is shown as it is compared.
    if result.is_ok() { unicode.into_owned() } else { host.to_owned() }
}

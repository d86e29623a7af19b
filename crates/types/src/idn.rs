//! Internationalised text as Go's `idna` "Lookup" profile reads it, with its holes closed.

use std::borrow::Cow;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use tofu_oci_fault::Fault;

use crate::idn_newer::is_newer;

/// UTS 46 processing: non-transitional, STD3 ASCII rules, hyphen checks, joiner and Bidi rules, no length limit.
const UTS46: Uts46 = Uts46::new();

/// Why a text is neither a namespace nor a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[fault(named)]
pub(crate) enum PartFault {
    Empty,
    Dots,
    DoubleDash,
    Charset,
}

impl PartFault {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::Dots => "contains a dot",
            Self::DoubleDash => "contains two dashes in a row",
            Self::Charset => "may contain only letters, digits, and dashes between them",
        }
    }
}

/// All ASCII except letters, digits, dashes, dots and underscores.
const STD3_WITH_UNDERSCORES: AsciiDenyList = AsciiDenyList::new(true, "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~");

/// The normal form of a namespace or type, as `OpenTofu` has it.
///
/// `OpenTofu` looks for dots and double dashes in the raw text only, so that full-width ones pass and become `.` and
/// `--`, or are even decoded as punycode. Here the mapped text is looked at too.
pub(crate) fn part(input: &str) -> Result<String, PartFault> {
    normal(input, AsciiDenyList::STD3)
}

/// The normal form of a namespace, which may have underscores in Terraform.
///
/// Source: hashicorp/terraform-registry-address, pull request 144 (Terraform 1.16).
pub(crate) fn namespace(input: &str) -> Result<String, PartFault> {
    normal(input, STD3_WITH_UNDERSCORES)
}

fn normal(input: &str, denied: AsciiDenyList) -> Result<String, PartFault> {
    let check = |text: &str| match text {
        "" => Err(PartFault::Empty),
        text if text.contains('.') => Err(PartFault::Dots),
        text if text.contains("--") => Err(PartFault::DoubleDash),
        _ => Ok(()),
    };
    check(input)?;
    let input = known(input).ok_or(PartFault::Charset)?;
    let (normal, result) = UTS46.to_unicode(input.as_bytes(), denied, Hyphens::Check);
    result.map_err(|_| PartFault::Charset)?;
    check(&normal)?;
    check(&mapped(&input))?;
    Ok(normal.into_owned())
}

/// The text with every character mapped on its own, before labels are split and decoded.
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

/// The text with the differences between the tables of `OpenTofu` and newer ones removed; `None` if the older ones
/// refuse a character.
///
/// A capital sharp s is two letters there, and a letter of its own in newer tables.
fn known(input: &str) -> Option<Cow<'_, str>> {
    if input.chars().any(is_newer) {
        return None;
    }
    Some(if input.contains('\u{1e9e}') { input.replace('\u{1e9e}', "ss").into() } else { input.into() })
}

/// A host without its port in comparison form (lower case, punycode); `None` if it is not allowed.
pub(crate) fn host_to_ascii(host: &str) -> Option<String> {
    let host = known(host)?;
    let (unicode, _) = UTS46.to_unicode(host.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    // Go looks for dashes in the third and fourth byte of a label, not in its characters.
    if unicode.split('.').any(|label| label.len() > 4 && label.as_bytes()[2..4] == *b"--") {
        return None;
    }
    let hyphens = Hyphens::CheckFirstLast;
    let ascii = UTS46.to_ascii(host.as_bytes(), AsciiDenyList::STD3, hyphens, DnsLength::Ignore).ok()?;
    Some(ascii.into_owned())
}

/// A host in comparison form, for people.
pub(crate) fn host_to_unicode(host: &str) -> String {
    let (unicode, result) = UTS46.to_unicode(host.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    // Without a valid Unicode form, people see the comparison form.
    if result.is_ok() { unicode.into_owned() } else { host.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Option<&str>) {
        assert_eq!(part(input).ok().as_deref(), want, "{input:?}");
    }

    #[test]
    fn characters_that_the_tables_of_opentofu_do_not_have_are_refused() {
        check("a\u{2260}b", None);
        check("\u{1806}", None);
        check("a\u{3164}b", None);
        check("\u{10a0}", None);
        check("\u{5c8}", None);
        check("\u{323b0}", None);
        check("\u{10d0}", Some("\u{10d0}"));
        check("\u{323af}", Some("\u{323af}"));
    }

    #[test]
    fn a_capital_sharp_s_is_two_letters() {
        check("fi\u{1e9e}", Some("fiss"));
        check("fi\u{df}", Some("fi\u{df}"));
        assert_eq!(host_to_ascii("fi\u{1e9e}.de").as_deref(), Some("fiss.de"));
    }

    #[test]
    fn a_right_to_left_letter_does_not_hide_in_a_symbol() {
        // OpenTofu looks at the direction before it maps, and lets an alef between Latin letters through.
        check("a\u{2135}b", None);
        check("\u{2135}", Some("\u{5d0}"));
    }

    #[test]
    fn dashes_of_hosts_are_counted_in_bytes() {
        assert_eq!(host_to_ascii("\u{f6}--x.de"), None);
        assert_eq!(host_to_ascii("o\u{308}--x.de"), None);
        assert_eq!(host_to_ascii("ab--x.de"), None);
        assert_eq!(host_to_ascii("a\u{f6}--x.de").as_deref(), Some("xn--a--x-5qa.de"));
    }
}

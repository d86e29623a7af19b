//! URI templates: `ghcr.io/acme/{namespace}/{type}`, as a host publishes them under `oci-providers.v1`.

mod fault;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use tofu_oci_types::ProviderAddr;

pub use self::fault::InvalidUriTemplate;
use self::fault::UriFaultKind;
use crate::place::{OciPlace, PlaceRule};
use crate::{MapError, error};

/// The parts of an address that a template may name.
const SYMBOLS: [&str; 3] = ["hostname", "namespace", "type"];

/// A URI template of level 1: literal text, and `{NAME}` for the value of one variable.
///
/// `Display` gives the text as it was written.
///
/// Spec: RFC 6570, level 1; stricter than it, as opentofu/svchost is: no `.` in a name, no `'` in a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<UriTemplatePart>,
}

/// A piece of a template, by its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UriTemplatePart {
    Literal(Range<usize>),
    /// The name without its braces.
    Variable(Range<usize>),
}

impl UriTemplate {
    /// The template of a provider service: it makes a repository address out of the parts of a provider's address.
    ///
    /// # Errors
    /// Broken syntax, an empty text, a URL, a relative reference, or variables that an address does not have.
    pub fn for_providers(text: &str) -> Result<Self, InvalidUriTemplate> {
        let invalid = |span: Range<usize>, kind| Err(InvalidUriTemplate::new(text, span, kind));
        if text.is_empty() {
            return invalid(0..0, UriFaultKind::Empty);
        }
        if let Some(at) = text.find("://") {
            return invalid(0..at + 3, UriFaultKind::Url);
        }
        if text.starts_with(['/', '.', '?', '#']) {
            return invalid(0..1, UriFaultKind::Relative);
        }
        let template: Self = text.parse()?;
        if let Some(span) = template.spans().find(|span| !SYMBOLS.contains(&&text[span.clone()])) {
            return invalid(span, UriFaultKind::UnknownVariable);
        }
        if !text.contains('/') {
            return invalid(0..text.len(), UriFaultKind::NoRepositoryName);
        }
        Ok(template)
    }

    /// The names of the variables, in order of appearance.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.spans().map(|span| &self.text[span])
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text with each variable's value in its place; a variable without a value is empty.
    ///
    /// In values everything but letters, digits, `-`, `.`, `_` and `~` is percent-encoded, in lower case; in literals
    /// only what a URI cannot have.
    pub fn expand<'v>(&self, value: &dyn Fn(&str) -> Option<&'v str>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                UriTemplatePart::Literal(span) => encode(&self.text[span.clone()], is_uri_character, &mut out),
                UriTemplatePart::Variable(span) => {
                    encode(value(&self.text[span.clone()]).unwrap_or_default(), is_unreserved, &mut out);
                }
            }
        }
        out
    }

    /// The repository of a provider. `hostname` means the comparison form.
    ///
    /// # Errors
    /// [`MapError::UnsupportedCharacters`] when a part of the address cannot be in a repository's name, with the
    /// characters that were tried; [`MapError::InvalidRepository`] when the result is not a repository for other reasons.
    ///
    /// Spec: seed 002 (RFC), "OCI Registry as an implementation detail of `direct` installation".
    pub fn repository(&self, address: &ProviderAddr) -> Result<OciPlace, MapError> {
        let value = |name: &str| match name {
            "hostname" => Some(address.hostname().as_str()),
            "namespace" => Some(address.namespace()),
            "type" => Some(address.provider_type()),
            _ => None,
        };
        let rule = PlaceRule::OciProviders { host: address.hostname().clone(), template: self.text.clone() };
        let used: Vec<&str> = self.variables().filter(|name| *name != "hostname").filter_map(value).collect();
        let text = if used.iter().all(|part| part.is_ascii()) { self.expand(&value) } else { self.plain(&value) };
        let repository = error::repository(address, &text, &used, rule.clone())?;
        Ok(OciPlace { repository, rule })
    }

    /// The text with unencoded values, for people.
    fn plain<'v>(&self, value: &dyn Fn(&str) -> Option<&'v str>) -> String {
        let piece = |part: &UriTemplatePart| match part {
            UriTemplatePart::Literal(span) => self.text[span.clone()].to_owned(),
            UriTemplatePart::Variable(span) => value(&self.text[span.clone()]).unwrap_or_default().to_owned(),
        };
        self.parts.iter().map(piece).collect()
    }

    fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().filter_map(|part| match part {
            UriTemplatePart::Literal(_) => None,
            UriTemplatePart::Variable(span) => Some(span.clone()),
        })
    }
}

impl FromStr for UriTemplate {
    type Err = InvalidUriTemplate;

    fn from_str(text: &str) -> Result<Self, InvalidUriTemplate> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let (part, end) = if rest.starts_with('{') {
                let Some(length) = rest.find('}') else {
                    return Err(InvalidUriTemplate::new(text, at..text.len(), UriFaultKind::UnclosedExpression));
                };
                let name = at + 1..at + length;
                check_expression(text, &name)?;
                (UriTemplatePart::Variable(name), at + length + 1)
            } else {
                let end = at + rest.find('{').unwrap_or(rest.len());
                check_literal(text, at..end)?;
                (UriTemplatePart::Literal(at..end), end)
            };
            parts.push(part);
            at = end;
        }
        Ok(Self { text: text.to_owned(), parts })
    }
}

/// Whether there is exactly one plain name between the braces.
fn check_expression(text: &str, span: &Range<usize>) -> Result<(), InvalidUriTemplate> {
    let inner = &text[span.clone()];
    let invalid = |at: usize, length: usize, kind| {
        Err(InvalidUriTemplate::new(text, span.start + at..span.start + at + length, kind))
    };
    if inner.is_empty() {
        return Err(InvalidUriTemplate::new(text, span.start - 1..span.end + 1, UriFaultKind::NoVariable));
    }
    if inner.starts_with(|first: char| "+#./;?&=,!@|".contains(first)) {
        return invalid(0, 1, UriFaultKind::Operator);
    }
    for (at, character) in inner.char_indices() {
        let kind = match character {
            '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => continue,
            '%' if is_triplet(&inner[at..]) => continue,
            '%' => UriFaultKind::BadPercent,
            ':' | '*' => UriFaultKind::Modifier,
            ',' => UriFaultKind::SeveralVariables,
            _ => UriFaultKind::BadName,
        };
        return invalid(at, character.len_utf8(), kind);
    }
    Ok(())
}

fn check_literal(text: &str, span: Range<usize>) -> Result<(), InvalidUriTemplate> {
    for (at, character) in text[span.clone()].char_indices() {
        let start = span.start + at;
        let kind = match character {
            '%' if !is_triplet(&text[start..]) => UriFaultKind::BadPercent,
            '}' => UriFaultKind::UnopenedExpression,
            ' ' | '"' | '\'' | '<' | '>' | '\\' | '^' | '`' | '|' | '\0'..='\u{1f}' | '\u{7f}' | '\u{fffd}' => {
                UriFaultKind::BadCharacter
            }
            _ => continue,
        };
        return Err(InvalidUriTemplate::new(text, start..start + character.len_utf8(), kind));
    }
    Ok(())
}

/// Whether the text begins with `%` and two hexadecimal digits.
fn is_triplet(text: &str) -> bool {
    matches!(text.as_bytes(), [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Reserved and unreserved characters, and the percent sign: in a checked literal it begins a triplet.
fn is_uri_character(byte: u8) -> bool {
    is_unreserved(byte) || b":/?#[]@!$&'()*+,;=%".contains(&byte)
}

fn encode(text: &str, stays: fn(u8) -> bool, out: &mut String) {
    for byte in text.bytes() {
        if stays(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;

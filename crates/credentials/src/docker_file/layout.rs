//! How what is written is laid out: as its neighbours are, and as Go's `MarshalIndent` does where there are none.

use zeroize::Zeroize as _;

use crate::json::Node;

/// The white space of a file.
pub(super) struct Layout {
    /// The break of a line; empty in a file that stands in one line.
    newline: String,
    /// One level.
    unit: String,
}

impl Layout {
    /// Line feeds and tabs, as docker writes.
    pub(super) fn docker() -> Self {
        Self { newline: "\n".to_owned(), unit: "\t".to_owned() }
    }

    /// That of the outermost object.
    pub(super) fn of(top: &Node<'_>) -> Self {
        let Some(lead) = lead(top) else { return Self::docker() };
        match lead.rfind('\n') {
            None => Self { newline: String::new(), unit: String::new() },
            Some(end) => {
                let newline = if lead[..end].ends_with('\r') { "\r\n" } else { "\n" };
                let unit = if end + 1 == lead.len() { "\t" } else { &lead[end + 1..] };
                Self { newline: newline.to_owned(), unit: unit.to_owned() }
            }
        }
    }

    /// An object `auths` of these members. `before` is the one that it takes the place of.
    pub(super) fn auths(&self, before: Option<&Node<'_>>, mut members: Vec<Vec<u8>>) -> Vec<u8> {
        if members.is_empty() {
            return b"{}".to_vec();
        }
        let lead = self.lead_of_entries(before);
        let tail = before.and_then(tail).unwrap_or_else(|| self.level(1));
        let size: usize = members.iter().map(|member| member.len() + 1 + lead.len()).sum();
        let mut text = Vec::with_capacity(size + tail.len() + 1);
        for (position, member) in members.iter_mut().enumerate() {
            text.push(if position == 0 { b'{' } else { b',' });
            text.extend_from_slice(lead.as_bytes());
            text.extend_from_slice(member);
            member.zeroize();
        }
        text.extend_from_slice(tail.as_bytes());
        text.push(b'}');
        text
    }

    /// A member of `auths`.
    pub(super) fn entry(&self, auths: Option<&Node<'_>>, server: &str, auth: Option<&str>) -> Vec<u8> {
        let outer = self.lead_of_entries(auths);
        let inner = if outer.contains('\n') { format!("{outer}{}", self.unit) } else { String::new() };
        let outer = if inner.is_empty() { "" } else { outer.as_str() };
        let blank = if inner.is_empty() { "" } else { " " };
        let name = quoted(server);
        let auth = auth.unwrap_or_default();
        let mut text = String::with_capacity(name.len() + inner.len() + outer.len() + auth.len() + 16);
        text.push_str(&name);
        text.push(':');
        text.push_str(blank);
        text.push('{');
        if !auth.is_empty() {
            for part in [&inner, "\"auth\":", blank, "\"", auth, "\"", outer] {
                text.push_str(part);
            }
        }
        text.push('}');
        text.into_bytes()
    }

    /// `auths` in front of the members that are there, which follow this white space.
    pub(super) fn first_member(&self, lead: &[u8], auths: &[u8]) -> Vec<u8> {
        let name: &[u8] = if self.newline.is_empty() { b"\"auths\":" } else { b"\"auths\": " };
        [lead, name, auths, b","].concat()
    }

    /// A whole object with nothing but `auths`.
    pub(super) fn file(&self, auths: &[u8]) -> Vec<u8> {
        [b"{", self.level(1).as_bytes(), b"\"auths\": ", auths, self.newline.as_bytes(), b"}"].concat()
    }

    fn level(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.unit.repeat(depth))
    }

    fn lead_of_entries(&self, auths: Option<&Node<'_>>) -> String {
        auths.and_then(lead).unwrap_or_else(|| self.level(2))
    }
}

/// The white space before an object's first member; none where there is no member.
fn lead(object: &Node<'_>) -> Option<String> {
    let first = object.members().first()?.start;
    white(&object.raw()[1..first - object.span().start])
}

/// The white space behind an object's last member.
fn tail(object: &Node<'_>) -> Option<String> {
    let end = object.members().last()?.value.span().end - object.span().start;
    white(&object.raw()[end..object.raw().len() - 1])
}

fn white(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// A text as Go writes it in JSON: `<`, `>`, `&` and two line separators are escaped beside what must be.
///
/// Spec: Go 1.25, `encoding/json`, `Marshal` ("to keep some browsers...").
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

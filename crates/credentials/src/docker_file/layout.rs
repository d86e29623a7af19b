//! The white space of new entries: that of their neighbours, or if there are none, of Go's `MarshalIndent`.

use zeroize::Zeroize as _;

use super::object::EditedObject;

/// The white space of a file.
pub(super) struct Layout {
    /// The break of a line; empty in a file of one line.
    newline: String,
    unit: String,
}

impl Layout {
    /// Line feeds and tabs, as docker writes.
    pub(super) fn docker() -> Self {
        Self { newline: "\n".to_owned(), unit: "\t".to_owned() }
    }

    /// That of the outermost object, by the white space in front of its first member.
    pub(super) fn of(lead: &str) -> Self {
        match lead.rfind('\n') {
            None => Self { newline: String::new(), unit: String::new() },
            Some(end) => {
                let newline = if lead[..end].ends_with('\r') { "\r\n" } else { "\n" };
                let unit = if end + 1 == lead.len() { "\t" } else { &lead[end + 1..] };
                Self { newline: newline.to_owned(), unit: unit.to_owned() }
            }
        }
    }

    /// An object `auths` of these members. It replaces `before`.
    pub(super) fn auths(&self, before: Option<&EditedObject<'_>>, mut members: Vec<String>) -> String {
        if members.is_empty() {
            return "{}".to_owned();
        }
        let lead = self.lead_of_entries(before);
        let tail = before.and_then(|object| object.tail).map_or_else(|| self.level(1), str::to_owned);
        let size: usize = members.iter().map(|member| member.len() + 1 + lead.len()).sum();
        let mut text = String::with_capacity(size + tail.len() + 1);
        for (position, member) in members.iter_mut().enumerate() {
            text.push(if position == 0 { '{' } else { ',' });
            text.push_str(&lead);
            text.push_str(member);
            member.zeroize();
        }
        text.push_str(&tail);
        text.push('}');
        text
    }

    /// A member of `auths`.
    pub(super) fn entry(&self, auths: Option<&EditedObject<'_>>, server: &str, auth: Option<&str>) -> String {
        let lead = self.lead_of_entries(auths);
        let (inner, outer, blank) = if lead.contains('\n') {
            (format!("{lead}{}", self.unit), lead.as_str(), " ")
        } else {
            (String::new(), "", "")
        };
        let name = quoted(server);
        let auth = auth.unwrap_or_default();
        let mut text = String::with_capacity(name.len() + inner.len() + outer.len() + auth.len() + 16);
        for part in [&name, ":", blank, "{"] {
            text.push_str(part);
        }
        if !auth.is_empty() {
            for part in [&inner, "\"auth\":", blank, "\"", auth, "\"", outer] {
                text.push_str(part);
            }
        }
        text.push('}');
        text
    }

    /// `auths` in front of the members that are there, which follow this white space.
    pub(super) fn first_member(&self, lead: &str, auths: &str) -> String {
        let blank = if self.newline.is_empty() { "" } else { " " };
        [lead, "\"auths\":", blank, auths, ","].concat()
    }

    /// A whole object with nothing but `auths`.
    pub(super) fn file(&self, auths: &str) -> String {
        ["{", &self.level(1), "\"auths\": ", auths, &self.newline, "}"].concat()
    }

    fn level(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.unit.repeat(depth))
    }

    fn lead_of_entries(&self, auths: Option<&EditedObject<'_>>) -> String {
        auths.and_then(|object| object.lead).map_or_else(|| self.level(2), str::to_owned)
    }
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

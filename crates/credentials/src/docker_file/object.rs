//! An object of the edited text.

use std::ops::Range;

use zeroize::Zeroizing;

use tofu_oci_types::{JsonMember, JsonValue};

/// An object of the text.
pub(super) struct EditedObject<'a> {
    /// The white space before its first member; `None` if it is empty.
    pub(super) lead: Option<&'a str>,
    /// The white space after its last member; `None` if it is empty.
    pub(super) tail: Option<&'a str>,
    pub(super) span: Range<usize>,
    pub(super) members: Vec<NamedMember<'a>>,
}

/// A member of an object.
pub(super) struct NamedMember<'a> {
    pub(super) name: Zeroizing<String>,
    /// From its name to the end of its value.
    pub(super) span: Range<usize>,
    pub(super) value: JsonValue<'a>,
}

impl<'a> EditedObject<'a> {
    pub(super) fn of(text: &'a str, object: &JsonValue<'a>) -> Self {
        let (span, members) = (object.span.clone(), object.members());
        let lead = members.first().map(|first| &text[span.start + 1..first.span.start]);
        let tail = members.last().map(|last| &text[last.span.end..span.end - 1]);
        let named = |member: &JsonMember<'a>| NamedMember {
            name: member.name.text(),
            span: member.span.clone(),
            value: member.value.clone(),
        };
        Self { lead, tail, span, members: members.iter().map(named).collect() }
    }
}

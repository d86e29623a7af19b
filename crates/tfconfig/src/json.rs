//! JSON with positions, as files in HCL's JSON syntax and state files need it.

use std::path::Path;

use tofu_oci_types::{JsonFault, JsonKind, JsonMember, JsonValue, TextPosition};

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::problem;
use crate::model::Declared;

/// A value, and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct TfJsonValue {
    /// The byte offset of its first character.
    pub(crate) offset: usize,
    pub(crate) kind: TfJsonKind,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum TfJsonKind {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<TfJsonValue>),
    /// In the order of the text; a name may occur twice.
    Object(Vec<TfJsonMember>),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) struct TfJsonMember {
    pub(crate) name: String,
    /// The byte offset of the name.
    pub(crate) offset: usize,
    pub(crate) value: TfJsonValue,
}

impl TfJsonValue {
    /// The members of an object, or of every object in an array: what HCL takes for one body.
    pub(crate) fn objects(&self) -> Vec<&[TfJsonMember]> {
        match &self.kind {
            TfJsonKind::Object(members) => vec![members],
            TfJsonKind::Array(list) => list.iter().flat_map(Self::objects).collect(),
            _ => Vec::new(),
        }
    }

    /// The value of a member of an object.
    pub(crate) fn member(&self, name: &str) -> Option<&TfJsonValue> {
        let TfJsonKind::Object(members) = &self.kind else { return None };
        members.iter().find(|member| member.name == name).map(|member| &member.value)
    }

    /// The value as HCL writes it, in one line. A text stands for itself, as the type of a variable does.
    pub(crate) fn shown(&self) -> String {
        match &self.kind {
            TfJsonKind::Null => "null".to_owned(),
            TfJsonKind::Bool(value) => value.to_string(),
            TfJsonKind::Number(text) | TfJsonKind::String(text) => text.clone(),
            TfJsonKind::Array(list) => format!("[{}]", list.iter().map(Self::shown).collect::<Vec<_>>().join(", ")),
            TfJsonKind::Object(members) => {
                let member = |member: &TfJsonMember| format!("{} = {}", member.name, member.value.shown());
                format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let TfJsonKind::String(text) = &self.kind { Some(text) } else { None }
    }
}

/// Reads a JSON text; at most 128 levels deep.
pub(crate) fn parse(path: &Path, text: &str) -> Result<TfJsonValue, TfConfigError> {
    let value = JsonValue::parse(text).map_err(|JsonFault { line, column, message }| {
        problem(
            Declared { path: path.to_owned(), at: TextPosition { line, column } },
            ConfigProblem::Syntax { message },
        )
    })?;
    Ok(TfJsonValue::from(value))
}

impl From<JsonValue<'_>> for TfJsonValue {
    fn from(value: JsonValue<'_>) -> Self {
        let member = |member: JsonMember<'_>| TfJsonMember {
            name: member.name.text().to_string(),
            offset: member.span.start,
            value: Self::from(member.value),
        };
        let kind = match value.kind {
            JsonKind::Null | JsonKind::Deep => TfJsonKind::Null,
            JsonKind::Bool(value) => TfJsonKind::Bool(value),
            JsonKind::Number(text) => TfJsonKind::Number(text.to_owned()),
            JsonKind::String(text) => TfJsonKind::String(text.text().to_string()),
            JsonKind::Array(items) => TfJsonKind::Array(items.into_iter().map(Self::from).collect()),
            JsonKind::Object(members) => TfJsonKind::Object(members.into_iter().map(member).collect()),
        };
        Self { offset: value.span.start, kind }
    }
}

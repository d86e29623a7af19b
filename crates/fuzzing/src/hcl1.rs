//! HCL 1 and its JSON form: every span lies in the text and on characters, offsets of values lead back into the text,
//! and what is read without duplicates is read alike where they are allowed.

use std::ops::Range;

use tofu_oci_hcl::{
    Duplicates, HclBody, HclDocument, HclKey, HclSyntax, HclValue, SyntaxError, Text, parse, parse_bytes,
};
use tofu_oci_types::TextPosition;

use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let _ = parse_bytes(bytes, Duplicates::Allowed);
        return;
    };
    let allowed = parse(text, Duplicates::Allowed);
    let refused = parse(text, Duplicates::Refused);
    match (&allowed, &refused) {
        (Ok(allowed), Ok(refused)) => assert_eq!(allowed, refused),
        (Err(error), Ok(_)) => panic!("allowing duplicates refuses: {error}"),
        _ => {}
    }
    for read in [allowed, refused] {
        match read {
            Ok(document) => document_is_sound(text, &document),
            Err(error) => error_is_sound(text, &error),
        }
    }
}

/// CLI configurations that were measured.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::contents("cli-config", ".tfrc");
    found.extend(seeds::bytes(seeds::texts("real_tofu_sources.json", &["cli_config"])));
    found
}

#[track_caller]
fn inside(text: &str, span: &Range<usize>) {
    assert!(text.get(span.clone()).is_some(), "{span:?} is no place in {text:?}");
}

fn error_is_sound(text: &str, error: &SyntaxError) {
    inside(text, &error.span);
    assert!(!error.message.is_empty());
    if let Some(place) = error.reported {
        assert!(place.line >= 1);
    }
    let place = TextPosition::of(text, error.span.start);
    assert!(place.line >= 1 && place.column >= 1 && place.line <= text.matches('\n').count() + 1);
}

fn document_is_sound(text: &str, document: &HclDocument) {
    body(text, document.syntax, &document.body, &(0..text.len()));
}

fn body(text: &str, syntax: HclSyntax, body: &HclBody, outer: &Range<usize>) {
    for item in &body.items {
        inside(text, &item.span);
        assert!(!item.keys.is_empty());
        if syntax == HclSyntax::Native {
            assert!(outer.start <= item.span.start && item.span.end <= outer.end, "{:?} in {outer:?}", item.span);
        }
        for key in &item.keys {
            name(text, syntax, key);
        }
        if let Some(brace) = item.brace {
            assert_eq!(text.as_bytes().get(brace), Some(&b'{'), "{text:?}");
        }
        value(text, syntax, &item.value);
    }
}

fn name(text: &str, syntax: HclSyntax, key: &HclKey) {
    inside(text, &key.span);
    if !key.quoted && syntax == HclSyntax::Native {
        assert_eq!(&text[key.span.clone()], key.text);
    }
}

fn value(text: &str, syntax: HclSyntax, value: &HclValue) {
    inside(text, &value.span());
    match value {
        HclValue::Object(inner, span) => body(text, syntax, inner, span),
        HclValue::List(values, _) => values.iter().for_each(|inner| self::value(text, syntax, inner)),
        HclValue::String(string) => offsets(text, string),
        HclValue::Number { text: number, span } | HclValue::Float { text: number, span } => {
            assert_eq!(&text[span.clone()], number);
        }
        HclValue::Bool { value, span } => assert_eq!(text[span.clone()] == *"true", *value),
        HclValue::Null { .. } => {}
    }
}

fn offsets(text: &str, string: &Text) {
    let mut last = string.span.start;
    for (offset, _) in string.value.char_indices().chain([(string.value.len(), ' ')]) {
        let place = string.map.source(offset);
        inside(text, &(place..text.len()));
        assert!(last <= place && place <= string.span.end, "{place} of {offset} in {:?}: {text:?}", string.span);
        last = place;
    }
    inside(text, &string.map.span(0..string.value.len()));
}

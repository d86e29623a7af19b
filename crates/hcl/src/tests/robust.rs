//! No text makes the parser panic, and every place it gives lies in the text.

use proptest::prelude::*;

use crate::{DecodeShape, Duplicates, HclBody, HclDocument, HclValue, MAX_DEPTH, SyntaxErrorKind, parse, parse_bytes};

const DOCUMENTS: [&str; 5] = [
    "provider_installation {\n  oci_mirror {\n    repository_template = \"x.test/${namespace == \"a\" ? \"b\" : type}\"\n    \
     include = [\"a/*/*\", \"é/b/c\",]\n  }\n  direct {} # rest\n}\n",
    "a = <<-EOF\n   b ${c}\n     d\n   EOF\r\nb = 0x1f\nc = [1.5e3, -7, { d = true }, [2]] /* e */\n\"f\" \"g\\u00e9\" { h = .5 }",
    "{\"a\": [{\"b\": {\"c\": {}}}, {\"d\": null}], \"e\": [[true, 1e5], \"\\u00e9\\ud83d\"], \"f\" : \"${g}\",}",
    "host \"x\" {\r\n  services = {\r\n    \"a.v1\" = \"https://x.test/\\x41\\101\"\r\n  }\r\n}\r\n",
    "// é\u{2028}界\nключ \"ß\" { значение = \"\\U0001F600${\"}\"}\" }\n",
];

/// Reads the text both ways, and whatever can be asked of what comes out.
fn exercise(bytes: &[u8]) {
    for duplicates in [Duplicates::Refused, Duplicates::Allowed] {
        match parse_bytes(bytes, duplicates) {
            Ok(document) => visit(&document, bytes.len(), duplicates),
            Err(error) => {
                assert!(error.span.start <= error.span.end && error.span.end <= bytes.len(), "{error:?}");
                if let Ok(text) = str::from_utf8(bytes) {
                    assert!(text.get(error.span.clone()).is_some(), "inside a character: {error:?} in {text:?}");
                }
            }
        }
    }
}

fn visit(document: &HclDocument, length: usize, duplicates: Duplicates) {
    let any = DecodeShape::Map(Box::new(DecodeShape::Any));
    if let Err(error) = document.body.decode(&any, duplicates) {
        assert!(error.span.end <= length);
    }
    assert!(document.overlooked.iter().all(|passed| passed.span.start < passed.span.end && passed.span.end <= length));
    visit_body(&document.body, length);
}

fn visit_body(body: &HclBody, length: usize) {
    for item in &body.items {
        assert!(!item.keys.is_empty() && item.span.start <= item.span.end && item.span.end <= length);
        assert!(item.keys.iter().all(|key| key.span.end <= length));
        visit_value(&item.value, length);
    }
}

fn visit_value(value: &HclValue, length: usize) {
    assert!(value.span().start < value.span().end && value.span().end <= length);
    match value {
        HclValue::Object(body, _) => visit_body(body, length),
        HclValue::List(values, _) => values.iter().for_each(|value| visit_value(value, length)),
        HclValue::String(text) => {
            let mut before = text.span.start;
            for offset in 0..=text.value.len() {
                let place = text.map.source(offset);
                assert!(before <= place && place <= text.span.end, "{text:?} at {offset}");
                before = place;
            }
        }
        _ => {}
    }
}

#[test]
fn every_prefix() {
    for document in DOCUMENTS {
        for end in 0..=document.len() {
            exercise(&document.as_bytes()[..end]);
        }
    }
}

#[test]
fn every_document_without_one_byte() {
    for document in DOCUMENTS {
        for gone in 0..document.len() {
            let mut bytes = document.as_bytes().to_vec();
            bytes.remove(gone);
            exercise(&bytes);
        }
    }
}

proptest! {
    #[test]
    fn anything(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        exercise(&bytes);
    }

    #[test]
    fn anything_of_the_language(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.into_iter().map(|index| PIECES[index]).collect();
        exercise(text.as_bytes());
    }
}

const PIECES: [&str; 30] = [
    "a", " ", "\n", "\r\n", "=", "{", "}", "[", "]", ",", "\"", "${", "%{", "\\", "\\u00e9", "\\x4", "<<E\n", "<<-E\n",
    "E\n", " E\n", "0", "1.5", "e", "-", "#", "/*", "*/", ":", "null", "é",
];

#[track_caller]
fn check_deep(open: &str, inside: &str, close: &str, fits: usize) {
    for (depth, ok) in [(fits, true), (fits + 1, false), (100_000, false)] {
        let text = format!("{}{inside}{}", open.repeat(depth), close.repeat(depth));
        match parse(&text, Duplicates::Refused) {
            Ok(document) => {
                assert!(ok, "{depth} of {open}");
                visit(&document, text.len(), Duplicates::Refused);
            }
            Err(error) => assert!(!ok && error.kind == SyntaxErrorKind::TooDeep, "{depth} of {open}: {error:?}"),
        }
    }
}

#[test]
fn depth_has_a_limit() {
    check_deep("a {", "", "}", MAX_DEPTH);
    check_deep("a = {", "", "}", MAX_DEPTH);
    check_deep("{\"a\":", "1", "}", MAX_DEPTH);
    check_deep("{\"a\":[", "1", "]}", MAX_DEPTH / 2);
    let lists = |depth: usize| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&lists(MAX_DEPTH), Duplicates::Allowed).is_ok());
    let error = parse(&lists(100_000), Duplicates::Allowed).expect_err("too deep");
    assert_eq!(error.kind, SyntaxErrorKind::TooDeep);
}

#[test]
fn texts_map_back_to_the_file() {
    let text = "a = \"x\\u00e9${b == \"c\"}\\n\"\r\nd = <<-E\r\n  e\r\n  f\r\n  E\r\n";
    let document = parse(text, Duplicates::Refused).expect("fine");
    let texts = document.body.items.iter().map(|item| match &item.value {
        HclValue::String(text) => text,
        other => panic!("{other:?}"),
    });
    let [first, second] = texts.collect::<Vec<_>>()[..] else { panic!("two texts") };
    assert_eq!(first.value, "xé${b == \"c\"}\n");
    let piece = |text: &crate::Text, piece: &str| {
        let start = text.value.find(piece).expect("there");
        text.map.span(start..start + piece.len())
    };
    assert_eq!(&text[piece(first, "é")], "\\u00e9");
    assert_eq!(&text[piece(first, "c")], "c");
    assert_eq!(&text[piece(first, "\n")], "\\n");
    assert_eq!(first.map.source(first.value.len()), text.find("\"\r\n").expect("there"));
    assert_eq!(second.value, "e\nf\n");
    assert_eq!(piece(second, "f").start, text.find("f\r").expect("there"));
}

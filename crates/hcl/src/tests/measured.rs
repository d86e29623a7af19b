//! The measured cases: what HCL 1 itself makes of each text, against what this crate does.

use std::path::Path;

use serde_json::{Value as Json, json};
use tofu_oci_types::TextPosition;

use crate::{
    DecodeError, DecodeErrorKind, DecodeShape, Decoded, Duplicates, HclBody, HclDocument, HclSyntax, HclValue,
    SyntaxErrorKind, parse_bytes,
};

const RELEASES: [(&str, Duplicates); 2] = [("refused", Duplicates::Refused), ("allowed", Duplicates::Allowed)];

fn cases(file: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hcl1").join(file);
    let bytes = std::fs::read(path).expect("the cases are in the repository");
    let mut table: Json = serde_json::from_slice(&bytes).expect("the cases are JSON");
    serde_json::from_value(table["cases"].take()).expect("a list of cases")
}

fn bytes(case: &Json) -> Vec<u8> {
    let Some(digits) = case["hex"].as_str() else {
        return case["text"].as_str().expect("a text").as_bytes().to_vec();
    };
    let pairs = digits.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).expect("ASCII"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

/// Prints every case that differs, then the count; fails when any does.
#[track_caller]
fn report(what: &str, count: usize, differences: &[String]) {
    println!("{what}: {count} cases, {} differ", differences.len());
    assert!(differences.is_empty(), "{} of {count}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn syntax() {
    let cases = cases("syntax.json");
    let mut differences = Vec::new();
    for case in &cases {
        for (release, duplicates) in RELEASES {
            let want = case.get(release).unwrap_or(&case["refused"]);
            let got = outcome(&bytes(case), duplicates);
            if got != *want {
                differences.push(format!("{} {release}\n  want {want}\n  got  {got}", case["name"]));
            }
        }
    }
    assert!(cases.len() >= 490, "only {} cases", cases.len());
    report("syntax", cases.len() * RELEASES.len(), &differences);
}

#[test]
fn decoding() {
    let mut count = 0;
    let mut differences = Vec::new();
    for case in cases("decode.json") {
        for (field, (release, duplicates)) in FIELDS.iter().flat_map(|field| RELEASES.map(|release| (*field, release)))
        {
            let text = case["text"].as_str().expect("a text").replace("NAME", field);
            let measured = |release: &str| case.get(release).and_then(|fields| fields.get(field));
            let want = measured(release).or_else(|| measured("refused")).cloned().unwrap_or_default();
            let got = decoded(&text, field, duplicates);
            count += 1;
            if got != want {
                differences.push(format!("{text:?} {field} {release}\n  want {want}\n  got  {got}"));
            }
        }
    }
    assert!(count >= 3000, "only {count} cases");
    report("decoding", count, &differences);
}

fn outcome(text: &[u8], duplicates: Duplicates) -> Json {
    match parse_bytes(text, duplicates) {
        Ok(document) => {
            // Broken bytes are left only after the outermost JSON object, whose items have no positions.
            let text = str::from_utf8(text).unwrap_or_default();
            json!({ "items": Writer { text, document: &document }.items(&document.body) })
        }
        Err(error) if error.kind == SyntaxErrorKind::Crash => json!({ "crash": true }),
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{error:?}");
            json!({ "error": error.reported.map_or("-".to_owned(), |place| place.to_string()) })
        }
    }
}

/// Writes a document as the cases do.
struct Writer<'a> {
    text: &'a str,
    document: &'a HclDocument,
}

impl Writer<'_> {
    fn place(&self, offset: usize) -> String {
        match self.document.syntax {
            HclSyntax::Native => TextPosition::of(self.text, offset).to_string(),
            HclSyntax::Json => "-".to_owned(),
        }
    }

    fn items(&self, body: &HclBody) -> Json {
        let items = body.items.iter().map(|item| {
            let keys: Vec<Json> = item
                .keys
                .iter()
                .map(|key| {
                    let text = key.fault.is_none().then_some(&key.text);
                    json!({ "k": text, "q": key.quoted, "p": self.place(key.span.start) })
                })
                .collect();
            json!({ "keys": keys, "assign": item.assigned, "val": self.value(&item.value) })
        });
        items.collect()
    }

    fn value(&self, value: &HclValue) -> Json {
        let place = self.place(value.span().start);
        match value {
            HclValue::Object(body, _) => json!({ "o": self.items(body), "p": place }),
            HclValue::List(values, _) => {
                json!({ "l": values.iter().map(|value| self.value(value)).collect::<Vec<_>>(), "p": place })
            }
            HclValue::String(text) => {
                let name = if text.heredoc { "h" } else { "s" };
                json!({ name: text.fault.is_none().then_some(&text.value), "p": place })
            }
            HclValue::Number { text, .. } => json!({ "n": text, "p": place }),
            HclValue::Float { text, .. } => json!({ "f": text, "p": place }),
            HclValue::Bool { value, .. } => json!({ "b": value, "p": place }),
            HclValue::Null { .. } => json!({ "z": true, "p": place }),
        }
    }
}

const FIELDS: [&str; 9] = ["s", "b", "i", "l", "m", "a", "h", "c", "p"];

fn shape(field: &str) -> DecodeShape {
    let list = |inner| DecodeShape::List(Box::new(inner));
    let map = |inner| DecodeShape::Map(Box::new(inner));
    let pointer = |fields| DecodeShape::Pointer(Box::new(DecodeShape::Struct(fields)));
    match field {
        "s" => DecodeShape::Text,
        "b" => DecodeShape::Bool,
        "i" => DecodeShape::Integer,
        "l" => list(DecodeShape::Text),
        "m" => map(DecodeShape::Text),
        "a" => map(map(DecodeShape::Any)),
        "h" => map(pointer(vec![("services", map(DecodeShape::Any))])),
        "c" => map(pointer(vec![("args", list(DecodeShape::Text))])),
        _ => list(pointer(vec![("x", DecodeShape::Text), ("y", map(DecodeShape::Text))])),
    }
}

fn decoded(text: &str, field: &'static str, duplicates: Duplicates) -> Json {
    let document = match crate::parse(text, duplicates) {
        Ok(document) => document,
        Err(error) => return json!({ "syntax": error.reported.map_or("-".to_owned(), |place| place.to_string()) }),
    };
    let writer = Writer { text, document: &document };
    match document.body.field(field, shape(field), duplicates) {
        Ok(None) => Json::Null,
        Ok(Some(value)) => match with_all_fields(field, &value) {
            empty if empty == json!({}) || empty == json!([]) || empty == json!("") => Json::Null,
            Json::Bool(false) => Json::Null,
            zero if zero == json!(0) => Json::Null,
            value => json!({ "v": value }),
        },
        Err(DecodeError { kind: DecodeErrorKind::Crash, .. }) => json!({ "crash": true }),
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error:?}");
            json!({ "err": error.reported.map_or("-".to_owned(), |offset| writer.place(offset)) })
        }
    }
}

/// The measuring program writes its structs with all their fields.
fn with_all_fields(field: &str, value: &Decoded) -> Json {
    let named = |name: &str, value: &Decoded| match plain(value) {
        Json::Object(fields) => json!({ name: fields.into_iter().next().map(|(_, value)| value) }),
        other => other,
    };
    match (field, value) {
        ("h", Decoded::Map(map)) => map.iter().map(|(key, value)| (key.clone(), named("Services", value))).collect(),
        ("c", Decoded::Map(map)) => map.iter().map(|(key, value)| (key.clone(), named("Args", value))).collect(),
        ("p", Decoded::List(list)) => list
            .iter()
            .map(|value| {
                let fields = plain(value);
                json!({ "X": fields.get("x").cloned().unwrap_or_else(|| json!("")), "Y": fields.get("y") })
            })
            .collect(),
        _ => plain(value),
    }
}

fn plain(value: &Decoded) -> Json {
    match value {
        Decoded::Text(text) => json!(text),
        Decoded::Bool(value) => json!(value),
        Decoded::Integer(number) => json!(number),
        // A float without a fraction is written without one.
        Decoded::Float(number) => serde_json::from_str(&number.to_string()).expect("a number"),
        Decoded::List(values) | Decoded::Objects(values) => values.iter().map(plain).collect(),
        Decoded::Map(map) => map.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
    }
}

//! Methods written as a CLI configuration, in both forms: what counts as read back has these methods and nothing else. The
//! lines are a template, a path, the address of a mirror, and patterns.

use tofu_oci_hcl::{Duplicates, HclBody, HclValue, parse};
use tofu_oci_mapper::config::{HclSyntax, WrittenMethod, is_read_back, write_methods};

use crate::input::text_of;
use crate::seeds;

/// Writes the methods.
pub fn run(bytes: &[u8]) {
    let mut lines = text_of(bytes).split('\n').map(str::to_owned);
    let mut line = || lines.next().unwrap_or_default();
    let (template, path, url) = (line(), line(), line());
    let include: Vec<String> = lines.collect();
    let exclude = include.clone();
    let methods = [
        WrittenMethod::FilesystemMirror { path: path.clone(), include: include.clone(), exclude: Vec::new() },
        WrittenMethod::OciMirror { template, include: include.clone(), exclude: Vec::new() },
        WrittenMethod::NetworkMirror { url, include: Vec::new(), exclude, retries: Some(3), trust_all_hashes: true },
        WrittenMethod::Direct { include: Vec::new(), exclude: include, retries: None },
    ];
    for form in [HclSyntax::Native, HclSyntax::Json] {
        let text = write_methods(&methods, form);
        if is_read_back(&text, &methods) {
            let document = parse(&text, Duplicates::Allowed).expect("what is read back is read");
            let names: Vec<&str> =
                document.body.items.iter().filter_map(|item| item.keys.first()).map(|key| key.text.as_str()).collect();
            assert_eq!(names, ["provider_installation"], "{text}");
        }
        // A path has no meaning to the reader but in `${ }`, which may be anything.
        let alone = write_methods(&methods[..1], form);
        if !alone.contains("${") {
            let read = parse(&alone, Duplicates::Allowed).unwrap_or_else(|error| panic!("{error}: {alone}"));
            assert_eq!(path_in(&read.body).as_deref(), Some(path.as_str()), "{alone}");
        }
    }
}

/// The first argument `path`, however deep.
fn path_in(body: &HclBody) -> Option<String> {
    fn of(value: &HclValue) -> Option<String> {
        match value {
            HclValue::Object(inner, _) => path_in(inner),
            HclValue::List(values, _) => values.iter().find_map(of),
            _ => None,
        }
    }
    body.items.iter().find_map(|item| match (item.keys.first(), &item.value) {
        (Some(key), HclValue::String(text)) if key.text == "path" => Some(text.value.clone()),
        (_, value) => of(value),
    })
}

/// Templates that were measured, with a path and patterns.
pub fn seeds() -> Vec<Vec<u8>> {
    let templates = seeds::texts("oci_mirror.json", &["template"]);
    let of = |template: &String| {
        format!("{template}\n/usr/share/a b\"c\\d\nhttps://mirror.example/x/\nregistry.example.test/*/*")
    };
    seeds::bytes(templates.iter().map(of))
}

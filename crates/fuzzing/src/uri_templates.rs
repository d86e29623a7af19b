//! URI templates: the first line is a provider's address, the rest a template.

use tofu_oci_mapper::{InvalidUriTemplate, UriTemplate};
use tofu_oci_types::ProviderAddr;

use crate::input::text_of;
use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let (address, template) = text.split_once('\n').unwrap_or(("example.com/acme/widget", text));
    match template.parse::<UriTemplate>() {
        Ok(parsed) => expands(&parsed, template),
        Err(error) => points(&error, template),
    }
    match UriTemplate::for_providers(template) {
        Ok(parsed) => {
            assert_eq!(template.parse::<UriTemplate>().as_ref(), Ok(&parsed));
            if let Ok(address) = address.parse::<ProviderAddr>() {
                repository(&parsed, &address);
            }
        }
        Err(error) => points(&error, template),
    }
}

/// Templates that were measured, below an address.
pub fn seeds() -> Vec<Vec<u8>> {
    let templates = seeds::texts("uri_template_level1.json", &["template"]);
    seeds::bytes(templates.iter().map(|template| format!("example.com/acme/widget\n{template}")))
}

fn expands(template: &UriTemplate, text: &str) {
    assert_eq!(template.as_str(), text);
    assert_eq!(template.to_string().parse::<UriTemplate>().as_ref(), Ok(template));
    for value in ["", "a", "a/b", "{x}", "%41", "\u{e4}\u{1f600}", "../..", "?#@"] {
        let expanded = template.expand(&|_| Some(value));
        assert!(expanded.is_ascii(), "{text:?} {expanded:?}");
        assert!(!expanded.contains(['{', '}', ' ', '"', '<', '>', '\\', '^', '`', '|']), "{text:?} {expanded:?}");
        let separators = |text: &str| text.matches(['/', '?', '#', '@']).count();
        let written = template.expand(&|_| None);
        assert_eq!(separators(&expanded), separators(&written), "a value brings no separator into {text:?}");
    }
    let names: Vec<&str> = template.variables().collect();
    assert!(names.iter().all(|name| !name.is_empty() && text.contains(name)));
}

fn repository(template: &UriTemplate, address: &ProviderAddr) {
    match template.repository(address) {
        Ok(place) => {
            let text = place.repository.to_string();
            assert!(text.is_ascii() && !text.contains([' ', '{', '}']), "{text}");
            assert!(place.repository.name().split('/').all(|part| !part.is_empty() && part != ".."), "{text}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn points(error: &InvalidUriTemplate, text: &str) {
    assert!(text.get(error.span()).is_some(), "{:?} is no place in {text:?}", error.span());
    assert_eq!(error.template(), text);
    assert!(!error.code().is_empty() && !error.to_string().is_empty());
}

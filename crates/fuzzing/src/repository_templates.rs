//! Repository templates: the first line is a provider's address, the rest a template.

use tofu_oci_mapper::RepositoryTemplate;
use tofu_oci_types::ProviderAddr;

use crate::input::text_of;
use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let (address, template) = text.split_once('\n').unwrap_or(("example.com/acme/widget", text));
    let includes: [&[String]; 2] = [&[], &[address.to_owned()]];
    for include in includes {
        match RepositoryTemplate::check(template, include) {
            Ok(parsed) => {
                assert_eq!(parsed.as_str(), template);
                if let Ok(address) = address.parse::<ProviderAddr>() {
                    place(&parsed, &address);
                }
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                for error in errors {
                    assert!(template.get(error.span()).is_some(), "{:?} is no place in {template:?}", error.span());
                    assert!(!error.code().is_empty() && !error.to_string().is_empty());
                }
            }
        }
    }
}

/// Templates that were measured, below an address.
pub fn seeds() -> Vec<Vec<u8>> {
    let templates = seeds::texts("oci_mirror.json", &["template"]);
    seeds::bytes(templates.iter().map(|template| format!("example.com/acme/widget\n{template}")))
}

fn place(template: &RepositoryTemplate, address: &ProviderAddr) {
    match template.place(address) {
        Ok(place) => {
            let name = place.repository.name();
            assert!(name.split('/').all(|part| !part.is_empty() && part != ".."), "{name}");
            assert_eq!(template.place(address).ok().map(|again| again.repository), Some(place.repository));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

//! Hostnames, addresses of providers and modules, patterns, repositories, tags, digests, platforms: what parses is
//! safe as the name of a folder, and what is written reads back as the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use tofu_oci_mapper::{MagicSuffix, Pattern, Selector, parse_prefix};
use tofu_oci_types::{
    Digest, Hostname, ModuleAddr, ModuleSource, PackageHash, Platform, ProviderAddr, RepositoryRef, Tag,
};

use crate::input::text_of;
use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    hostname(text);
    provider(text);
    module(text);
    pattern(text);
    let _ = parse_prefix(text);
    let _ = text.parse::<MagicSuffix>();
    if let Some(repository) = reads_back::<RepositoryRef>(text) {
        let _: &str = repository.registry_host();
    }
    if let Some(tag) = reads_back::<Tag>(text) {
        folder(tag.as_str());
    }
    if let Some(platform) = reads_back::<Platform>(text) {
        folder(platform.os());
        folder(platform.arch());
    }
    if let Some(digest) = reads_back::<Digest>(text) {
        folder(digest.encoded());
        let _ = digest.short();
    }
    reads_back::<PackageHash>(text);
    reads_back::<ModuleAddr>(text);
}

/// Addresses that were measured.
pub fn seeds() -> Vec<Vec<u8>> {
    let tables: [(&str, &[&str]); 6] = [
        ("address.json", &["input"]),
        ("module_sources.json", &["source", "input"]),
        ("include_exclude.json", &["pattern", "provider"]),
        ("platforms.json", &["input"]),
        ("hashes.json", &["input"]),
        ("tags.json", &["tag"]),
    ];
    seeds::bytes(tables.iter().flat_map(|(table, members)| seeds::texts(table, members)))
}

fn reads_back<T: FromStr<Err: Display> + Display + Debug + PartialEq>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(value) => {
            let again = value.to_string().parse::<T>();
            assert!(again.as_ref().is_ok_and(|again| *again == value), "{text:?} {value}");
            Some(value)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

#[track_caller]
fn folder(part: &str) {
    assert!(!part.is_empty() && part != "." && part != "..", "{part:?}");
    assert!(!part.contains(['/', '\\', '\0']), "{part:?}");
}

fn hostname(text: &str) {
    let Ok(host) = text.parse::<Hostname>() else { return };
    folder(host.as_str());
    folder(&host.display());
    assert!(!host.display().contains(".."), "{text:?}");
    assert!(host.as_str().is_ascii() && !host.as_str().bytes().any(|byte| byte.is_ascii_uppercase()), "{text:?}");
    match host.display().parse::<Hostname>() {
        Ok(again) => assert_eq!(again, host, "{text:?}"),
        // Punycode that stands for no text is displayed as it is, and not read in that form.
        Err(error) => assert!(host.as_str().contains("xn--"), "{text:?} {error}"),
    }
}

fn provider(text: &str) {
    let Ok(address) = text.parse::<ProviderAddr>() else { return };
    for part in [address.namespace(), address.provider_type()] {
        folder(part);
        assert!(!part.contains('.') && !part.contains("--"), "{text:?} {address}");
    }
    if text.contains('/') {
        assert_eq!(address.for_display().parse::<ProviderAddr>().ok().as_ref(), Some(&address), "{text:?}");
    }
    let exactly = Pattern::exactly(&address);
    assert!(exactly.matches(&address));
    let alone = Selector { include: vec![exactly.clone()], exclude: Vec::new() };
    assert!(alone.select(&address).is_in());
    let without = Selector { include: Vec::new(), exclude: vec![exactly] };
    assert!(!without.select(&address).is_in());
    if let Ok(Some(place)) = MagicSuffix::default().place(&address) {
        assert_eq!(place.repository.to_string().parse::<RepositoryRef>().as_ref(), Ok(&place.repository));
    }
}

fn pattern(text: &str) {
    let Ok(pattern) = text.parse::<Pattern>() else { return };
    assert_eq!(pattern.to_string().parse::<Pattern>().as_ref(), Ok(&pattern));
    assert!(pattern.covers(&pattern) && pattern.overlaps(&pattern));
    if let Ok(address) = text.parse::<ProviderAddr>() {
        assert!(pattern.matches(&address), "{text:?}");
        assert!(pattern.covers(&Pattern::exactly(&address)), "{text:?}");
    }
}

fn module(text: &str) {
    let source = match text.parse::<ModuleSource>() {
        Ok(source) => source,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let subdir = match &source {
        ModuleSource::Other(other) => {
            // What is shown may leave out what is secret, so it need not read back.
            other.subdir()
        }
        ModuleSource::Local(path) => {
            assert!(path.as_str().starts_with("./") || path.as_str().starts_with("../"), "{text:?}");
            return assert_eq!(path.to_string().parse().as_ref(), Ok(&source), "{text:?}");
        }
        ModuleSource::Registry(address, subdir) => {
            folder(address.namespace());
            folder(address.name());
            folder(address.target());
            assert_eq!(source.for_display().parse().as_ref(), Ok(&source), "{text:?}");
            subdir
        }
        ModuleSource::Oci(oci) => {
            // Userinfo may hold a password; a folder may well have an `@` in its name.
            let shown = source.to_string();
            let package = shown.strip_prefix("oci://").and_then(|rest| rest.split('/').next());
            assert!(package.is_some_and(|host| !host.contains('@')), "{text:?} {source}");
            assert_eq!(source.to_string().parse().as_ref(), Ok(&source), "{text:?}");
            oci.subdir()
        }
    };
    let inside = subdir.as_str();
    assert!(subdir.is_root() || inside.split(['/', '\\']).all(|segment| segment != ".."), "{text:?}");
    assert!(!inside.starts_with('/'), "{text:?}");
}

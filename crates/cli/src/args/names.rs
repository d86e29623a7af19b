//! Addresses and versions that are published: they are written in full.

use tofu_oci_types::{ProviderAddr, Version};

/// A full address: tofu-oci guesses no part of it, because a release under a wrong name stays published.
pub(crate) fn full_address(text: &str) -> Result<ProviderAddr, String> {
    if let Some((_, rest)) = text.split_once("://") {
        return Err(format!("write it without the scheme: {}", rest.trim_end_matches('/')));
    }
    let is_version = |text: &str| text.parse::<Version>().is_ok();
    if let Some((name, version)) = text.split_once('@').or_else(|| text.rsplit_once(':').filter(|of| is_version(of.1)))
    {
        let named = if is_version(version) { version } else { "VERSION" };
        return Err(format!("write it without the version: {name}; --version {named} says that"));
    }
    let address: ProviderAddr = text.parse().map_err(|error| format!("{error}"))?;
    let (namespace, provider_type) = (address.namespace(), address.provider_type());
    match text.matches('/').count() {
        0 => Err(format!(
            "write it in full, HOST/NAMESPACE/TYPE, such as registry.example.com/NAMESPACE/{provider_type}"
        )),
        1 => Err(format!(
            "write it in full, HOST/{namespace}/{provider_type}, with a host of your own; \
             registry.opentofu.org/{namespace}/{provider_type} and registry.terraform.io/{namespace}/{provider_type} are \
             for providers of those registries"
        )),
        _ => Ok(address),
    }
}

/// A version in its canonical form only, because it becomes a tag.
pub(super) fn strict_version(text: &str) -> Result<Version, String> {
    if let Some(rest) = text.strip_prefix('v')
        && rest.parse::<Version>().is_ok()
    {
        return Err(format!("write it without the v: {rest}"));
    }
    let version: Version = text.parse().map_err(|error| format!("{error}"))?;
    if version.to_string() == text { Ok(version) } else { Err(format!("write it in full: {version}")) }
}

/// What a signature says besides, in one line.
pub(super) fn signature_note(text: &str) -> Result<String, String> {
    const MOST: usize = 500;
    match text.chars().count() {
        0 => Err("it is empty".to_owned()),
        ..=MOST if !text.chars().any(char::is_control) => Ok(text.to_owned()),
        count if count > MOST => Err(format!("it has {count} characters, and may have {MOST}")),
        _ => Err("it may have no line break and no other control character".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, &str>) {
        let got = full_address(text).map(|address| address.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), want);
    }

    #[test]
    fn an_address_to_publish_under_is_written_in_full() {
        check("example.com/acme/widget", Ok("example.com/acme/widget"));
        check("Example.com/Acme/Widget", Ok("example.com/acme/widget"));
        let two = "write it in full, HOST/acme/widget, with a host of your own; registry.opentofu.org/acme/widget and \
                   registry.terraform.io/acme/widget are for providers of those registries";
        check("acme/widget", Err(two));
        check("widget", Err("write it in full, HOST/NAMESPACE/TYPE, such as registry.example.com/NAMESPACE/widget"));
        let without = "write it without the version: example.com/acme/widget; --version 1.0.0 says that";
        check("example.com/acme/widget@1.0.0", Err(without));
        check("example.com/acme/widget:1.0.0", Err(without));
        check("https://example.com/acme/widget", Err("write it without the scheme: example.com/acme/widget"));
    }
}

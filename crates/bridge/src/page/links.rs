//! The addresses of the pages, as links.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use tofu_oci_docs::{PageKind, PageName};
use tofu_oci_types::{ModuleAddr, ProviderAddr, Version};
use url::form_urlencoded;

use crate::BaseUrl;

/// What a segment of a path must not hold as it is.
const SEGMENT: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'/').add(b'<').add(b'>').add(b'?').add(b'`');

/// The links of the pages of one bridge: paths, so that they work behind every name of it.
#[derive(Clone, Copy)]
pub(super) struct PageLinks<'a> {
    base: &'a BaseUrl,
}

impl<'a> PageLinks<'a> {
    pub(super) fn new(base: &'a BaseUrl) -> Self {
        Self { base }
    }

    /// The start page, which is also where a search is sent.
    pub(super) fn start(self) -> &'a str {
        self.base.path()
    }

    /// The host of the bridge, as the name of the whole site.
    pub(super) fn host(self) -> &'a str {
        self.base.authority()
    }

    /// A page of a search; `number` counts from 1.
    pub(super) fn search(self, query: &str, number: usize) -> String {
        let mut members = form_urlencoded::Serializer::new(String::new());
        if !query.is_empty() {
            members.append_pair("q", query);
        }
        format!("{}?{}", self.start(), numbered(&mut members, number))
    }

    pub(super) fn provider(self, address: &ProviderAddr) -> String {
        format!("{}providers/{}", self.start(), folder(address))
    }

    /// A page of the list of versions; `number` counts from 1.
    pub(super) fn versions(self, address: &ProviderAddr, number: usize) -> String {
        let mut members = form_urlencoded::Serializer::new(String::new());
        format!("{}?{}", self.provider(address), numbered(&mut members, number))
    }

    pub(super) fn release(self, address: &ProviderAddr, version: &Version) -> String {
        format!("{}/{version}", self.provider(address))
    }

    /// A page of the documentation of a release.
    pub(super) fn docs(self, address: &ProviderAddr, version: &Version, page: &PageName) -> String {
        let docs = format!("{}/docs", self.release(address, version));
        if page.kind() == PageKind::Overview { docs } else { format!("{docs}/{page}") }
    }

    pub(super) fn module(self, address: &ModuleAddr) -> String {
        format!("{}module/{}/{}", self.start(), address.hostname().as_str(), address.path())
    }

    /// A page of the list of a module's versions; `number` counts from 1.
    pub(super) fn module_versions(self, address: &ModuleAddr, number: usize) -> String {
        let mut members = form_urlencoded::Serializer::new(String::new());
        format!("{}?{}", self.module(address), numbered(&mut members, number))
    }

    pub(super) fn module_version(self, address: &ModuleAddr, version: &Version) -> String {
        format!("{}/{version}", self.module(address))
    }

    /// What lies at this path below the base URL.
    pub(super) fn below(self, path: &str) -> String {
        format!("{}{}", self.start(), path.trim_start_matches('/'))
    }
}

fn numbered(members: &mut form_urlencoded::Serializer<'_, String>, number: usize) -> String {
    members.append_pair("page", &number.to_string()).finish()
}

fn folder(address: &ProviderAddr) -> String {
    let part = |text| utf8_percent_encode(text, SEGMENT).to_string();
    format!("{}/{}/{}", address.hostname().as_str(), part(address.namespace()), part(address.provider_type()))
}

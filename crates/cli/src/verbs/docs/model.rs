//! The lines of `docs`.

use serde::Serialize;
use tofu_oci_docs::{DocPage, DocsDifference, PageName};
use tofu_oci_types::{ProviderAddr, Version};

#[derive(Serialize)]
#[serde(tag = "event")]
pub(super) enum DocsLine<'a> {
    #[serde(rename = "docs-page")]
    Page {
        address: &'a ProviderAddr,
        version: &'a Version,
        #[serde(flatten)]
        page: FullPage<'a>,
    },
    #[serde(rename = "docs-diff")]
    Diff {
        address: &'a ProviderAddr,
        from: &'a Version,
        to: &'a Version,
        #[serde(flatten)]
        difference: &'a DocsDifference,
    },
}

/// A page of the list.
#[derive(Serialize)]
#[serde(tag = "event", rename = "docs-entry")]
pub(super) struct DocsEntry<'a> {
    page: &'a PageName,
    title: Option<&'a str>,
    subcategory: Option<&'a str>,
    description: Option<&'a str>,
    #[serde(skip)]
    text: &'a str,
}

/// A page with its text.
#[derive(Serialize)]
pub(super) struct FullPage<'a> {
    page: &'a PageName,
    title: Option<&'a str>,
    subcategory: Option<&'a str>,
    description: Option<&'a str>,
    /// Markdown.
    text: &'a str,
}

impl<'a> DocsEntry<'a> {
    pub(super) fn of(name: &'a PageName, page: &'a DocPage) -> Self {
        let DocPage { title, subcategory, description, text } = page;
        let (title, subcategory) = (title.as_deref(), subcategory.as_deref());
        Self { page: name, title, subcategory, description: description.as_deref(), text }
    }

    pub(super) fn full(self) -> FullPage<'a> {
        let Self { page, title, subcategory, description, text } = self;
        FullPage { page, title, subcategory, description, text }
    }
}

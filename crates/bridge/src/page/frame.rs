//! What every page has around its content, and the headers that keep it inert.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest as _, Sha256};

use super::links::PageLinks;

const STYLE: &str = include_str!("style.css");
const ICON: &str = include_str!("icon.svg");

/// Scripts and frames are not allowed at all; the style sheet and the icon come from this server, and forms go to it.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The first digits of the style sheet's digest.
static STYLE_VERSION: LazyLock<String> =
    LazyLock::new(|| Sha256::digest(STYLE)[..6].iter().map(|byte| format!("{byte:02x}")).collect());

/// A page before its content is known.
#[derive(Clone, Copy)]
pub(super) struct PageFrame<'a> {
    pub(super) links: PageLinks<'a>,
    /// What the search box holds.
    pub(super) query: &'a str,
}

impl PageFrame<'_> {
    /// The whole page.
    pub(super) fn page(&self, title: &str, content: &Markup) -> Markup {
        let links = self.links;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) }
                    link rel="stylesheet" href=(links.below(&format!("style.css?{}", *STYLE_VERSION)));
                    link rel="icon" type="image/svg+xml" href=(links.below("icon.svg"));
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header {
                        a.home href=(links.start()) { (links.host()) }
                        search {
                            form action=(links.start()) method="get" {
                                label for="search" { "Search" }
                                input #search type="search" name="q" value=(self.query) maxlength="200"
                                    placeholder="namespace, type or host" autocomplete="off" spellcheck="false";
                                button type="submit" { "Find" }
                            }
                        }
                    }
                    main #content tabindex="-1" { (content) }
                    footer {
                        p { "For " b { "Terraform" } " and " b { "OpenTofu" } ", served by tofu-oci out of plain OCI repositories." }
                    }
                }
            }
        }
    }

    /// The whole page as an answer. What it says is of this moment, and perhaps for this client alone.
    pub(super) fn answer(&self, status: StatusCode, title: &str, content: &Markup) -> Response {
        let headers = headers("text/html; charset=utf-8", "private, no-cache");
        (status, headers, self.page(title, content).into_string()).into_response()
    }
}

/// The style sheet. Its name changes with its contents, so it can be kept for ever.
pub(super) fn style() -> Response {
    (headers("text/css; charset=utf-8", "public, max-age=31536000, immutable"), STYLE).into_response()
}

/// The icon of the pages.
pub(super) fn icon() -> Response {
    (headers("image/svg+xml", "public, max-age=86400"), ICON).into_response()
}

fn headers(content: &'static str, cache: &'static str) -> HeaderMap {
    let values = [
        (CONTENT_TYPE, content),
        (CACHE_CONTROL, cache),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    values.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect()
}

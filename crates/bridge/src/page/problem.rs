//! The pages that say why there is nothing else to show.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};
use maud::{Markup, html};
use tofu_oci_types::Version;

use super::frame::PageFrame;
use super::words::{foreign, punycode, sentence};
use crate::{AccessError, Refusal, ServedAddress, VersionAbsence};

/// The page of a path that names no page.
pub(super) fn not_a_page(frame: &PageFrame<'_>, reason: &str) -> Response {
    let content = html! {
        h1 { "There is no such page" }
        p { (foreign(reason)) }
        (other_ways(frame))
    };
    frame.answer(StatusCode::NOT_FOUND, "There is no such page", &content)
}

/// The page for a client that may not see this.
pub(super) fn denied(frame: &PageFrame<'_>, denied: &AccessError) -> Response {
    let title = match denied.status() {
        StatusCode::UNAUTHORIZED => "This page needs a login",
        _ => "You may not see this",
    };
    let content = html! {
        h1 { (title) }
        p { (with_code(&sentence(&denied.to_string()))) }
        @if denied.status() == StatusCode::UNAUTHORIZED {
            p { "In the dialog of the browser, any user name will do; the password is the token." }
        }
    };
    let mut answer = frame.answer(denied.status(), title, &content).into_response();
    for challenge in denied.challenges() {
        answer.headers_mut().append(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    answer
}

/// The page of a question that has no answer.
pub(super) fn refused(frame: &PageFrame<'_>, refusal: &Refusal) -> Response {
    let (title, text) = explained(frame, refusal);
    let content = html! { h1 { (title) } (text) (other_ways(frame)) };
    let mut answer = frame.answer(refusal.status(), title, &content);
    refusal.note_in(&mut answer);
    answer
}

fn explained(frame: &PageFrame<'_>, refusal: &Refusal) -> (&'static str, Markup) {
    match refusal {
        Refusal::NotServed { address } => {
            let text = html! { p { "The configuration of this server names no place for " (named(address)) "." } };
            let title = match address {
                ServedAddress::Provider(_) => "This provider is not served here",
                ServedAddress::Module(_) => "This module is not served here",
            };
            (title, text)
        }
        Refusal::UnknownAddress { address, reason } => {
            let text = html! {
                p { "The place that this server asks for " (named(address)) " does not have it." }
                @if let Some(reason) = reason { p.notice { (reason) } }
            };
            let title = match address {
                ServedAddress::Provider(_) => "There is no such provider",
                ServedAddress::Module(_) => "There is no such module",
            };
            (title, text)
        }
        Refusal::UnknownVersion { address, version, absence } => {
            let text = html! {
                @match absence {
                    VersionAbsence::Withdrawn(withdrawn) => {
                        p { (release(address, version)) " " (withdrawn.said()) "." }
                        @if let Some(reason) = &withdrawn.reason { p.notice { (sentence(reason)) } }
                    }
                    absence => p { (release(address, version)) " " (absence.to_string()) "." }
                }
                (versions_of(frame, address))
            };
            ("This version is not offered", text)
        }
        Refusal::UnknownPlatform { address, version, platform } => {
            let text = html! {
                p { (named(&address.into())) " " (version) " has no package for " (foreign(&platform.to_string())) "." }
                (versions_of(frame, &address.into()))
            };
            ("There is no such package", text)
        }
        Refusal::Untrusted { address, version, reason } => {
            let text = html! {
                p { "This server refuses " (release(address, version)) ": " (foreign(reason)) "." }
                (versions_of(frame, address))
            };
            ("This release is not trusted", text)
        }
        // No page asks for a signature.
        Refusal::NoSigningKey { address, .. } => (
            "This server has no signing key",
            html! { p { "It cannot sign the checksums of " (named(&address.into())) "." } },
        ),
        Refusal::Upstream { address, code, reason, .. } => {
            let text = html! {
                p { "This server could not read " (named(address)) " from its place. Try again in a while." }
                p.notice { code { (code) } " " (foreign(reason)) }
                (versions_of(frame, address))
            };
            ("The registry does not answer", text)
        }
    }
}

/// A sentence with what it has between backticks as code.
fn with_code(text: &str) -> Markup {
    html! {
        @for (nth, part) in text.split('`').enumerate() {
            @if nth % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

fn named(address: &ServedAddress) -> Markup {
    html! { code { (address) } (punycode(address.hostname())) }
}

fn release(address: &ServedAddress, version: &Version) -> Markup {
    html! { code { (address) } " " (version) }
}

fn versions_of(frame: &PageFrame<'_>, address: &ServedAddress) -> Markup {
    let ServedAddress::Provider(address) = address else { return Markup::default() };
    html! { p { a href=(frame.links.provider(address)) { "All versions of the provider" } } }
}

fn other_ways(frame: &PageFrame<'_>) -> Markup {
    html! { p { "Search above, or " a href=(frame.links.start()) { "see all providers" } "." } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_asks_for_a_login_showed_backticks() {
        let shown = with_code("The header must be `Bearer TOKEN`, or <none>.").into_string();
        assert_eq!(shown, "The header must be <code>Bearer TOKEN</code>, or &lt;none&gt;.");
    }
}

//! Who built a release, as a proven certificate says it.

use maud::{Markup, html};
use tofu_oci_trust::ProvenIdentity;

use super::words::foreign;

/// Repository, workflow, commit and run. What the forge of the issuer has is a link; everything else is text.
pub(super) fn built_by(identity: &ProvenIdentity) -> Markup {
    let ProvenIdentity { repository, workflow, reference, commit, run, .. } = identity;
    let forge = identity.forge();
    html! {
        @if let Some(repository) = repository {
            (linked(forge, &format!("https://{repository}"), repository))
        }
        @if let Some(workflow) = workflow { ", workflow " (foreign(own_path(workflow, repository.as_deref()))) }
        @if let Some(reference) = reference { " at " (foreign(reference)) }
        @if let Some(commit) = commit { ", commit " code.digest { (foreign(commit)) } }
        @if let Some(run) = run { ", " (linked(forge, run, "run")) }
    }
}

/// The path of a workflow in the repository that was built; the whole name of one of another repository.
fn own_path<'a>(workflow: &'a str, repository: Option<&str>) -> &'a str {
    let own = repository.and_then(|repository| workflow.strip_prefix(repository));
    own.map_or(workflow, |path| path.trim_start_matches('/'))
}

/// A link, if the address is one of plain letters below `https://` and the host of the issuer's forge; else the address as text.
fn linked(forge: Option<&str>, address: &str, text: &str) -> Markup {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~/".contains(letter);
    let of_forge = |host: &str| {
        let path = address.strip_prefix("https://").and_then(|rest| rest.strip_prefix(host));
        path.is_some_and(|path| path.starts_with('/') && path.chars().all(is_plain) && !path.contains(".."))
    };
    if forge.is_some_and(of_forge) {
        html! { a href=(address) rel="noreferrer" { (foreign(text)) } }
    } else if text == "run" {
        html! { "run " (foreign(address)) }
    } else {
        html! { (foreign(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(forge: Option<&str>, address: &str, want: &str) {
        assert_eq!(linked(forge, address, "acme/widget").into_string(), want, "{address}");
    }

    #[test]
    fn only_an_address_of_the_forge_is_a_link() {
        let link = "<a href=\"https://github.com/acme/widget\" rel=\"noreferrer\">acme/widget</a>";
        check(Some("github.com"), "https://github.com/acme/widget", link);
        for (forge, address) in [
            (None, "https://github.com/acme/widget"),
            (Some("gitlab.com"), "https://github.com/acme/widget"),
            (Some("github.com"), "http://github.com/acme/widget"),
            (Some("github.com"), "javascript:alert(1)//https://github.com/acme/widget"),
            (Some("github.com"), "https://github.com.evil.example/acme/widget"),
            (Some("github.com"), "https://github.com@evil.example/acme/widget"),
            (Some("github.com"), "https://github.com/acme/../evil"),
            (Some("github.com"), "https://github.com/acme/widget\"onclick=\"alert(1)"),
            (Some("github.com"), "https://github.com/acme/widget?next=https://evil.example"),
        ] {
            check(forge, address, "acme/widget");
        }
        assert_eq!(linked(None, "javascript:<b>\u{202e}", "run").into_string(), "run javascript:&lt;b&gt;\\u{202e}");
    }

    #[test]
    fn a_workflow_of_the_same_repository_has_no_repository_before_it() {
        assert_eq!(
            own_path("github.com/a/b/.github/workflows/x.yml", Some("github.com/a/b")),
            ".github/workflows/x.yml"
        );
        assert_eq!(own_path("github.com/c/d/.github/x.yml", Some("github.com/a/b")), "github.com/c/d/.github/x.yml");
    }
}

//! Errors of stores.

use std::path::Path;

use tofu_oci_logins::RefusalCause;
use tofu_oci_store::{AccessFault, GiveUpReason, StoreError, StoreItem};
use tofu_oci_types::Place;

use super::{Diagnostic, registries};
use crate::exit::Exit;
use crate::invocation;

impl From<StoreError> for Diagnostic {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&StoreError> for Diagnostic {
    #[expect(clippy::too_many_lines, reason = "a table of errors and hints")]
    fn from(error: &StoreError) -> Self {
        let code = error.credential_code().unwrap_or_else(|| error.code().to_owned());
        let mut diagnostic = Self::of(exit(error), error).code(code);
        diagnostic.unasked = !error.is_of_content();
        if let Some(hint) = bundle_hint(error).or_else(|| module_hint(error)) {
            return diagnostic.hint(hint);
        }
        match error {
            StoreError::UnknownRepository { place } if is_layout(place) => {
                diagnostic.hint(layout_hint("pack DIST oci:DIR"))
            }
            StoreError::UnknownRepository { .. } => {
                diagnostic.hint("check the name; some registries also say this to those who may not read the repository")
            }
            StoreError::Unauthorized { place, fault: AccessFault::TokenRefused(_), .. } => diagnostic
                .hint("check the name: registries also answer so about a repository that does not exist, or that this login may not see")
                .refused(place, RefusalCause::Login),
            StoreError::Unauthorized { place, .. } => diagnostic.refused(place, RefusalCause::Login),
            StoreError::Denied { place, fault: AccessFault::NoKnownScheme(_), .. } => diagnostic
                .hint("no login helps there; check that this is the registry you mean, or ask its operator")
                .refused(place, RefusalCause::Unrelated),
            StoreError::Denied { place, .. } => registries::shape(place)
                .into_iter()
                .fold(diagnostic, Self::hint)
                .hint(format!(
                    "ask the owner of {place} for the right to read, and for a push to write; another login may have it"
                ))
                .refused(place, RefusalCause::Right),
            StoreError::Disturbed { .. } => {
                diagnostic.hint("other programs write to this repository at the same time: run the same command again")
            }
            StoreError::ChunksLost { .. } => diagnostic.hint(registries::NO_CHUNKS),
            StoreError::Rejected { place, status, reason, .. } => diagnostic.hint(
                registries::hint(place, *status, *reason).unwrap_or_else(|| generic_hint(*status).to_owned()),
            ),
            StoreError::Malformed { place, .. } if is_layout(place) => {
                diagnostic.hint("name a folder that is an OCI image layout, or to write one, a new or empty folder")
            }
            StoreError::Forbidden { fault: Some(AccessFault::RedirectUnnamed), .. } => {
                diagnostic.hint("if that host is the right one, name it with --plain-http HOST; the request there carries no login")
            }
            StoreError::Forbidden { fault: Some(AccessFault::RedirectDowngrade), .. } => {
                diagnostic.hint("the registry sends to a server without TLS; only its operator can change that")
            }
            StoreError::Forbidden { fault: Some(AccessFault::PrivateHost), host, .. } => diagnostic
                .hint(format!("if that is meant, allow it with --private-host {}", host.as_deref().unwrap_or("HOST"))),
            StoreError::Forbidden { place, fault: Some(fault), .. } => {
                diagnostic.hint(realm_hint(*fault)).refused(place, RefusalCause::Other)
            }
            StoreError::Malformed { .. } | StoreError::Forbidden { .. } => {
                diagnostic.hint("-vv shows every request; check that this is the registry you mean")
            }
            StoreError::NoToken { place, .. } => diagnostic
                .hint("the registry's token server has a problem of its own; run the same command again later")
                .refused(place, RefusalCause::Other),
            StoreError::Credentials { place, code, hint, .. } => {
                let diagnostic = hint.iter().flat_map(|hint| hint.lines()).fold(diagnostic, Self::hint);
                let refusal = if code == "incomplete-basic" { RefusalCause::Login } else { RefusalCause::Other };
                diagnostic.refused(place, refusal)
            }
            StoreError::NotFound { place, what: StoreItem::Tag(_) } => {
                let versions = invocation::command(&format!("versions {}", invocation::quoted(&place.to_string())));
                diagnostic.hint(format!("`{versions}` lists what is there"))
            }
            StoreError::NotFound { .. } => {
                diagnostic.hint("the release is incomplete there; its publisher can push it again")
            }
            StoreError::UnsupportedDigest { .. } => diagnostic.hint("sha256 and sha512 are known here"),
            StoreError::TooManyManifests { .. } => diagnostic.hint(
                "a run has these limits: copy fewer versions at a time; if one version alone is too much, somebody has attached \
                 far more to it than a release needs",
            ),
            StoreError::TooDeep { .. } => diagnostic.hint("a release needs two levels; check who wrote these manifests"),
            StoreError::TooLarge { .. } => diagnostic.hint("this is no provider release"),
            StoreError::Unreachable { place, fault, problem } => {
                diagnostic.network(place, *fault, problem).if_address(place, *fault)
            }
            StoreError::DigestMismatch { place, .. } | StoreError::SizeMismatch { place, .. }
                if is_layout(place) =>
            {
                diagnostic.hint("a file in the directory was changed or cut short; copy or pack the release again")
            }
            StoreError::DigestMismatch { .. } | StoreError::SizeMismatch { .. } => diagnostic
                .hint("the registry, or something between it and here, changed the content; nothing of it was kept"),
            StoreError::RateLimited { seconds, reason: GiveUpReason::Attempts, .. } => diagnostic.hint(format!(
                "try again in {seconds} s, or have it tried more often with --attempts N (and --jobs 1, for fewer at once)"
            )),
            StoreError::RateLimited { seconds, .. } => {
                diagnostic.hint(format!("try again later, or wait longer with --max-wait {seconds}"))
            }
            StoreError::NotListed { .. } => diagnostic.hint(
                "no tag was written: run the same command again, and if it fails again, copy to a registry that lists referrers",
            ),
            StoreError::Locked(_) => diagnostic.locked(),
            StoreError::ReadOnly { place: Place::Layout(dir) } => diagnostic.hint(format!(
                "you may not write to {}: change its permissions, or name a directory that you may write to",
                existing(dir).display()
            )),
            StoreError::TagStays { .. } => diagnostic.tag_stays_hint(error),
            StoreError::ReadOnly { .. } => diagnostic.hint("choose a place that you may write to"),
            StoreError::Io { action, path, source } => diagnostic.io_hint(action, path, source),
            _ => diagnostic,
        }
    }
}

/// What to do in a verb of modules, where it differs from what publishers of providers do.
fn module_hint(error: &StoreError) -> Option<String> {
    if !invocation::is_about_modules() {
        return None;
    }
    Some(match error {
        StoreError::UnknownRepository { place } if is_layout(place) => {
            layout_hint("module push DIR oci:DIR --version V")
        }
        StoreError::NotFound { place, what: StoreItem::Tag(_) } => {
            let scheme = if is_layout(place) { "" } else { "oci://" };
            let versions = invocation::quoted(&format!("{scheme}{place}"));
            format!("`{}` lists what is there", invocation::command(&format!("module versions {versions}")))
        }
        StoreError::NotFound { .. } => "the module is incomplete there; its publisher can push it again".to_owned(),
        StoreError::TooLarge { .. } => "this is not a module package; check the repository and the tag".to_owned(),
        StoreError::DigestMismatch { place, .. } | StoreError::SizeMismatch { place, .. } if is_layout(place) => {
            "a file in the directory was changed or cut short; copy or push the module again".to_owned()
        }
        _ => return None,
    })
}

/// What to do about a directory that is not an image layout. `verb` makes one.
fn layout_hint(verb: &str) -> String {
    format!(
        "check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci {verb}` makes one"
    )
}

/// What to do about a bundle.
fn bundle_hint(error: &StoreError) -> Option<String> {
    let hint = match error {
        StoreError::UnknownRepository { place: Place::Bundle(file) } => {
            let shown = file.display().to_string();
            let whole = shown.trim_end_matches(|last: char| last.is_ascii_digit()).strip_suffix('.');
            return Some(match whole {
                Some(whole) if whole.len() + 4 == shown.len() => {
                    format!("name the bundle without the number of a part: {whole}")
                }
                _ => {
                    format!("name the file, or its parts without .001: {shown}, or {shown}.001, {shown}.002 and so on")
                }
            });
        }
        StoreError::Malformed { place: Place::Bundle(_), .. } => {
            "`tofu-oci bundle create` writes bundles; copy the file again if it was one"
        }
        StoreError::MissingPart { .. } => "copy that file as well, into the same folder",
        StoreError::CutOff { .. } => "copy the file again, whole",
        StoreError::DigestMismatch { place: Place::Bundle(_), .. }
        | StoreError::SizeMismatch { place: Place::Bundle(_), .. } => {
            "the file was changed or damaged on its way: copy it again, and load nothing of it until then"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The directory, or the next one above it that exists.
fn existing(dir: &Path) -> &Path {
    dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."))
}

/// What to do about a status whose registry is not known to say more.
fn generic_hint(status: u16) -> &'static str {
    match status {
        405 => "the registry may be read-only just now; ask its operator",
        404 => "create the repository first, or the project that it lies in; or log in with an account that may push",
        413 => "the registry or a proxy before it limits the size of uploads; ask its operator for more",
        408 | 429 => "the registry wants fewer requests: try again later, or with --jobs 1",
        500.. => "the registry has a problem of its own; run the same command again later",
        _ => "the registry does not take this; -vv shows every request",
    }
}

/// What to do where the registry's word about its token server is not followed.
fn realm_hint(fault: AccessFault) -> &'static str {
    match fault {
        AccessFault::RealmOtherSite | AccessFault::RealmPrivateAddress => {
            "if that server is the right one, allow it with --token-host HOST"
        }
        AccessFault::RealmDowngrade => {
            "the password would be sent in the clear: ask the registry's operator; if that server is the right one, allow \
             it with --token-host HOST and --plain-http HOST"
        }
        AccessFault::TokenRedirect => {
            "tofu-oci sends what is meant for the token server to no other host; ask the registry's operator"
        }
        _ => {
            "tofu-oci sends no password to such a server; ask the registry's operator, or check that this is the registry you mean"
        }
    }
}

fn exit(error: &StoreError) -> Exit {
    match error {
        StoreError::Unreachable { .. } | StoreError::RateLimited { .. } => Exit::Unexpected,
        StoreError::Io { source, .. } => super::io::io_exit(source),
        error if error.is_transient() => Exit::Unexpected,
        StoreError::Rejected { status, .. } if *status >= 500 => Exit::Unexpected,
        _ => Exit::Fixable,
    }
}

fn is_layout(place: &Place) -> bool {
    matches!(place, Place::Layout(_))
}

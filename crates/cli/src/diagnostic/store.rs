//! Errors of stores.

use tofu_oci_logins::RefusalCause;
use tofu_oci_store::{AccessFault, StoreError, StoreItem};
use tofu_oci_types::Place;

use super::Diagnostic;
use crate::invocation;

impl From<StoreError> for Diagnostic {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&StoreError> for Diagnostic {
    fn from(error: &StoreError) -> Self {
        let mut plain = Self::fault(error);
        if let Some(code) = error.credential_code() {
            plain = plain.code(code);
        }
        plain.unasked = !error.is_of_content();
        if let Some(hint) = module_hint(error) {
            return plain.instead(hint);
        }
        match error {
            StoreError::NotFound { place, what: StoreItem::Tag(_) } => {
                let versions = invocation::command(&format!("versions {}", invocation::quoted(&place.to_string())));
                plain.hint(format!("`{versions}` lists what is there"))
            }
            StoreError::Unreachable { place, fault, problem } => {
                plain.network(place, *fault, problem).if_address(place, *fault)
            }
            StoreError::TagStays { .. } => plain.tag_stays_hint(error),
            _ => match refusal(error) {
                Some((place, refusal)) => plain.refused(place, refusal),
                None => plain,
            },
        }
    }
}

/// The place that refused access, and what credentials have to do with it.
fn refusal(error: &StoreError) -> Option<(&Place, RefusalCause)> {
    use AccessFault::{NoKnownScheme, PrivateHost, RedirectDowngrade, RedirectUnnamed};
    Some(match error {
        StoreError::Unauthorized { place, .. } => (place, RefusalCause::Login),
        StoreError::Denied { place, fault: NoKnownScheme(_), .. } => (place, RefusalCause::Unrelated),
        StoreError::Denied { place, .. } => (place, RefusalCause::Right),
        StoreError::Forbidden { fault: None | Some(RedirectUnnamed | RedirectDowngrade | PrivateHost), .. } => {
            return None;
        }
        StoreError::Credentials { place, code, .. } if code == "incomplete-basic" => (place, RefusalCause::Login),
        StoreError::Forbidden { place, .. }
        | StoreError::NoToken { place, .. }
        | StoreError::Credentials { place, .. } => (place, RefusalCause::Other),
        _ => return None,
    })
}

/// What to do in a verb of modules, where it differs from what publishers of providers do.
fn module_hint(error: &StoreError) -> Option<String> {
    if !invocation::is_about_modules() {
        return None;
    }
    Some(match error {
        StoreError::UnknownRepository { place } if is_layout(place) => {
            "check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci module push DIR \
             oci:DIR --version V` makes one"
                .to_owned()
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

fn is_layout(place: &Place) -> bool {
    matches!(place, Place::Layout(_))
}

//! Keys of `auths` and `credHelpers` and labels of blocks: a registry, or a repository prefix.

use tofu_oci_types::RepositoryRef;

use crate::Fit;

/// How closely a key of `auths` or a label fits, as `OpenTofu` compares them: byte for byte.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig, `ContainersAuthPropertyNameMatch`.
pub(crate) fn fit(key: &str, repository: &RepositoryRef) -> Option<Fit> {
    fit_parts(key, repository.registry(), repository.name())
}

/// As [`fit`], of a registry and a name, which may be empty.
pub(crate) fn fit_parts(key: &str, registry: &str, name: &str) -> Option<Fit> {
    let Some((host, _)) = key.split_once('/') else {
        // A registry alone is only compared, whatever it looks like.
        return (!key.is_empty() && key == registry).then_some(Fit::Registry);
    };
    if host != registry {
        return None;
    }
    // An empty tag or digest at the end is cut off; any other, and what is no path, matches nothing.
    let prefix = RepositoryRef::from_opentofu(key).ok()?;
    let mut segments = name.split('/');
    let mut count = 0;
    for wanted in prefix.name().split('/') {
        if segments.next() != Some(wanted) {
            return None;
        }
        count += 1;
    }
    Some(Fit::Path(count))
}

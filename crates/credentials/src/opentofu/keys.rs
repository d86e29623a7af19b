//! Which repositories a key of `auths` or a block's label speaks about, by `OpenTofu`'s own rules.

use tofu_oci_types::RepositoryRef;

/// How closely a key fits: 2 for the registry, 2 and one for each segment of the path; `None` if it does not fit.
///
/// A key without a slash is compared with the registry and not looked at any further. With a slash it is read as a
/// reference: an empty tag or digest is cut off, and what stands before an empty digest as a tag, too.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig, `ContainersAuthPropertyNameMatch`; oras-go 2.6, `registry.ParseReference`.
pub(super) fn specificity(key: &str, repository: &RepositoryRef) -> Option<usize> {
    let Some((registry, path)) = key.split_once('/') else {
        return (!key.is_empty() && key == repository.registry()).then_some(2);
    };
    // Every repository's registry has passed the check of registries, so equality is enough.
    if registry != repository.registry() {
        return None;
    }
    let (prefix, reference) = match path.split_once('@') {
        Some((tagged, digest)) => (tagged.split(':').next().unwrap_or_default(), digest),
        None => path.split_once(':').unwrap_or((path, "")),
    };
    if !reference.is_empty() || !prefix.split('/').all(component) {
        return None;
    }
    let mut segments = repository.name().split('/');
    prefix.split('/').all(|wanted| segments.next() == Some(wanted)).then(|| 2 + prefix.split('/').count())
}

/// `[a-z0-9]+(?:(?:[._]|__|[-]*)[a-z0-9]+)*`
fn component(text: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut rest = text.as_bytes();
    loop {
        let letters = rest.iter().take_while(|byte| alphanumeric(byte)).count();
        if letters == 0 {
            return false;
        }
        rest = &rest[letters..];
        let between = rest.iter().take_while(|byte| !alphanumeric(byte)).count();
        match &rest[..between] {
            [] => return true,
            [b'.' | b'_'] | [b'_', b'_'] => {}
            dashes if dashes.iter().all(|byte| *byte == b'-') => {}
            _ => return false,
        }
        rest = &rest[between..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, repository: &str, want: Option<usize>) {
        let repository = RepositoryRef::from_opentofu(repository).expect("a repository");
        assert_eq!(specificity(key, &repository), want, "{key} {repository}");
    }

    #[test]
    fn a_registry_is_compared_byte_for_byte() {
        check("r.example:5000", "r.example:5000/a/b", Some(2));
        check("R.example", "R.example/a", Some(2));
        check("127.0.0.1:5000", "127.0.0.1:5000/a", Some(2));
        check("registry-1.docker.io", "registry-1.docker.io/library/x", Some(2));
        for key in
            ["", "r.example", "r.example:443", "R.EXAMPLE:5000", "*.example:5000", "r.example:5000.", " r.example:5000"]
        {
            check(key, "r.example:5000/a/b", None);
        }
        check("r.example:443", "r.example/a", None);
    }

    #[test]
    fn a_path_is_compared_by_whole_segments() {
        check("r/a", "r/a/b/c", Some(3));
        check("r/a/b/c", "r/a/b/c", Some(5));
        for key in ["r/a/b/c/d", "r/a/b/cc", "r/a/bb", "r/b", "s/a"] {
            check(key, "r/a/b/c", None);
        }
        check("r/a/b", "r/a/bx/c", None);
    }

    #[test]
    fn an_empty_tag_or_digest_is_cut_off() {
        for key in ["r/a:", "r/a@", "r/a:1.0@", "r/a:@", "r/a:??@"] {
            check(key, "r/a/b", Some(3));
        }
        for key in ["r/a:1.0", "r/a@x", "r/a:@x", "r/a::", "r/a:@@"] {
            check(key, "r/a/b", None);
        }
    }

    #[test]
    fn other_forms_are_invisible() {
        for key in ["r/", "r//a", "r/a/", "r/A", "r/a/*", "https://r/a", "http://r", "https://r/v1/", "r/-a", "r/a._b"]
        {
            check(key, "r/a/b", None);
        }
        check("r/a.b__c---d_e", "r/a.b__c---d_e/x", Some(3));
        check("r/a___b", "r/a/b", None);
    }
}

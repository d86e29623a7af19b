//! Which place serves a provider or a module.

use tofu_oci_types::{Pattern, Predecessors, ProviderAddr};

use crate::ServedPlace;

/// The place, by its number: that with the most specific `include` among those that do not exclude the provider; the first
/// of equals. `None` if the provider is not served. A place that excludes one of the names of a provider excludes it.
pub(super) fn served_by(places: &[ServedPlace], predecessors: &Predecessors, address: &ProviderAddr) -> Option<usize> {
    let patterns = places.iter().map(|place| (&*place.include, &*place.exclude));
    most_specific(patterns, &predecessors.names(address), Pattern::matches, Pattern::covers)
}

/// The same for any places, each by its patterns. `names` are all names of an address, its own first.
pub(crate) fn most_specific<'p, P: 'p, A>(
    places: impl Iterator<Item = (&'p [P], &'p [P])>,
    names: &[A],
    matches: impl Fn(&P, &A) -> bool,
    covers: impl Fn(&P, &P) -> bool,
) -> Option<usize> {
    let own = names.first()?;
    let mut best: Option<(&P, usize)> = None;
    for (number, (include, exclude)) in places.enumerate() {
        if exclude.iter().any(|pattern| names.iter().any(|name| matches(pattern, name))) {
            continue;
        }
        // Of two patterns that match one address, one covers the other.
        for pattern in include.iter().filter(|pattern| matches(pattern, own)) {
            if best.is_none_or(|(known, _)| covers(known, pattern) && !covers(pattern, known)) {
                best = Some((pattern, number));
            }
        }
    }
    best.map(|(_, number)| number)
}

/// The provider that a pattern without wildcards names.
pub(super) fn sole_address(pattern: &Pattern) -> Option<ProviderAddr> {
    let (host, namespace, provider_type) = (pattern.hostname()?, pattern.namespace()?, pattern.provider_type()?);
    format!("{host}/{namespace}/{provider_type}").parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_oci_fetch::RenamedReleases;
    use tofu_oci_mirror::MirrorError;
    use tofu_oci_types::Tag;

    use super::*;
    use crate::OfferedBy;

    fn place(include: &[&str], exclude: &[&str]) -> ServedPlace {
        let read = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let closed = |_: &ProviderAddr| {
            let (place, tag) = ("example.com/x".parse().unwrap(), "x".parse::<Tag>().unwrap());
            Err(MirrorError::NotSightings { place, tag })
        };
        ServedPlace {
            include: read(include),
            exclude: read(exclude),
            offered: OfferedBy::Place(Arc::new(closed)),
            list: None,
            renamed: RenamedReleases::Refuse,
        }
    }

    #[track_caller]
    fn check(address: &str, want: Option<usize>) {
        let places = [
            place(&["*/*/*"], &["example.com/secret/*"]),
            place(&["example.com/*/*", "example.com/acme/widget"], &["example.com/acme/old"]),
            place(&["example.com/acme/*"], &["example.com/acme/gadget"]),
            place(&["example.com/acme/*"], &[]),
            place(&["hashicorp/*"], &[]),
        ];
        assert_eq!(served_by(&places, Predecessors::NONE, &address.parse().unwrap()), want, "{address}");
    }

    #[test]
    fn an_exclude_is_not_gone_around_under_the_host_of_a_predecessor() {
        let places = [place(&["a.example/*/*", "b.example/*/*"], &["b.example/secret/*"])];
        let known: Predecessors = ["a.example=b.example".parse().unwrap()].into_iter().collect();
        let served = |known: &Predecessors, text: &str| served_by(&places, known, &text.parse().unwrap()).is_some();
        for address in ["a.example/secret/zap", "b.example/secret/zap"] {
            assert!(!served(&known, address), "{address}");
        }
        assert!(served(&known, "a.example/acme/zap") && served(Predecessors::NONE, "a.example/secret/zap"));
    }

    #[test]
    fn the_most_specific_include_that_does_not_exclude_it() {
        check("other.example/a/b", Some(0));
        check("example.com/other/b", Some(1));
        check("example.com/acme/zap", Some(2));
        check("example.com/acme/gadget", Some(3));
        check("example.com/acme/widget", Some(1));
        check("example.com/acme/old", Some(2));
        check("example.com/secret/b", Some(1));
        check("hashicorp/aws", Some(4));
        check("registry.terraform.io/hashicorp/aws", Some(0));
    }

    #[test]
    fn an_address_that_no_place_includes() {
        let places = [place(&["example.com/*/*"], &["example.com/secret/*"]), place(&[], &[])];
        for address in ["other.example/a/b", "example.com/secret/b"] {
            assert_eq!(served_by(&places, Predecessors::NONE, &address.parse().unwrap()), None);
        }
    }

    #[test]
    fn only_patterns_without_wildcards_name_a_provider() {
        let names = |text: &str| sole_address(&text.parse().unwrap()).map(|address| address.to_string());
        assert_eq!(names("example.com/acme/widget").as_deref(), Some("example.com/acme/widget"));
        assert_eq!(names("example.com/acme/*"), None);
    }
}

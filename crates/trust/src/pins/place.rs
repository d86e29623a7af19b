//! The spelling of places.

use tofu_oci_types::RegistryHost;

/// The place in the one spelling that is compared and written: a registry by the one name of its place, the path of an
/// `oci:` directory without detours. No file is asked, so a link stays what it is.
pub(super) fn canonical(place: &str) -> String {
    if let Some(path) = place.strip_prefix("oci:") {
        return format!("oci:{}", lexical(path));
    }
    match place.split_once('/') {
        Some((host, path)) => {
            let host = host.parse().map_or_else(|_| host.to_ascii_lowercase(), |host: RegistryHost| host.place());
            format!("{host}/{path}")
        }
        None => place.to_owned(),
    }
}

/// The path without `.`, empty parts and `PART/..`.
fn lexical(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let rooted = path.starts_with('/');
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", None) if rooted => {}
            (part, _) => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(places: &[&str], want: &str) {
        for place in places {
            assert_eq!(canonical(place), want, "{place}");
            assert_eq!(canonical(&canonical(place)), want, "{place}");
        }
    }

    #[test]
    fn each_place_has_one_spelling() {
        check(&["ghcr.io/acme/widget", "GHCR.io/acme/widget"], "ghcr.io/acme/widget");
        check(&["LOCALHOST:5000/a/B", "127.1:5000/a/B", "[::1]:5000/a/B"], "localhost:5000/a/B");
        check(&["A*b.Test/x"], "a*b.test/x");
        check(&["memory"], "memory");
        check(&["oci:layout", "oci:./layout", "oci:layout/", "oci:a/../layout", "oci:.//layout/."], "oci:layout");
        check(&["oci:/a/b", "oci:/a//b/", "oci:/../a/./b", "oci:/a/c/../b"], "oci:/a/b");
        check(&["oci:../layout", "oci:a/../../layout"], "oci:../layout");
        check(&["oci:../../layout"], "oci:../../layout");
        check(&["oci:.", "oci:", "oci:a/.."], "oci:.");
        check(&["oci:/", "oci:/.."], "oci:/");
        check(&["oci:Layout"], "oci:Layout");
    }
}

//! The releases of `OpenTofu` whose reading of files was measured.

use tofu_oci_types::TofuRelease;

/// The releases, the oldest first.
pub const MEASURED: [TofuRelease; 3] = [TofuRelease::V1_10, TofuRelease::V1_12, TofuRelease::V1_13];

/// The releases for people: `1.10 and later`, `1.12 and later`, `1.10`.
pub fn releases_text(releases: &[TofuRelease]) -> String {
    let last = MEASURED.last();
    match releases {
        [] => "no release".to_owned(),
        [first, ..] if releases.len() == MEASURED.iter().filter(|release| *release >= first).count() => {
            if Some(first) == last { first.to_string() } else { format!("{first} and later") }
        }
        [only] => only.to_string(),
        [start @ .., end] => {
            let start: Vec<String> = start.iter().map(ToString::to_string).collect();
            format!("{} and {end}", start.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(releases: &[TofuRelease], want: &str) {
        assert_eq!(releases_text(releases), want);
    }

    #[test]
    fn releases_are_told_shortly() {
        use TofuRelease::{V1_10, V1_12, V1_13};
        check(&[V1_10, V1_12, V1_13], "1.10 and later");
        check(&[V1_12, V1_13], "1.12 and later");
        check(&[V1_13], "1.13");
        check(&[V1_10], "1.10");
        check(&[V1_10, V1_12], "1.10 and 1.12");
        check(&[V1_10, V1_13], "1.10 and 1.13");
    }
}

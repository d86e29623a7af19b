//! Sizes as text for people.

/// A number of bytes for people, in decimal units as registries bill them.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: u64, want: &str) {
        assert_eq!(human_bytes(bytes), want);
    }

    #[test]
    fn bytes_are_short_and_never_a_thousand_of_a_unit() {
        check(0, "0 B");
        check(999, "999 B");
        check(1000, "1.0 kB");
        check(999_949, "999.9 kB");
        check(999_950, "1.0 MB");
        check(148_046_444, "148.0 MB");
        check(2_147_483_648, "2.1 GB");
    }
}

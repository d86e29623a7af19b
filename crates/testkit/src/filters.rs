//! Makes snapshots equal in every run: replaces paths, ports, durations, digests.

/// An ordered set of replacements for snapshot texts.
#[derive(Clone, Debug)]
pub struct Filters {
    literals: Vec<(String, String)>,
    digests: bool,
}

impl Default for Filters {
    fn default() -> Self {
        Self::new()
    }
}

impl Filters {
    /// Loopback ports become `127.0.0.1:[PORT]` and durations `[TIME]`; the rest stays.
    pub fn new() -> Self {
        Self { literals: Vec::new(), digests: false }
    }

    /// Also replaces this text. Longer texts are replaced before shorter ones.
    pub fn literal(&mut self, from: &str, to: &str) {
        self.literals.push((from.to_owned(), to.to_owned()));
        self.literals.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    }

    /// Also writes every `sha256:` digest as `sha256:[DIGEST]`.
    pub fn digests(&mut self) {
        self.digests = true;
    }

    /// The text with everything replaced.
    pub fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.literals {
            text = text.replace(from, to);
        }
        text = after_each(&text, "127.0.0.1:", "[PORT]", |letter| letter.is_ascii_digit(), 1);
        if self.digests {
            text = after_each(&text, "sha256:", "[DIGEST]", |letter| letter.is_ascii_hexdigit(), 64);
        }
        durations(&text)
    }
}

/// Replaces a run of at least `shortest` fitting letters after each `mark`.
fn after_each(text: &str, mark: &str, to: &str, fits: impl Fn(char) -> bool, shortest: usize) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(&fits);
        out.push_str(mark);
        if part.len() - rest.len() >= shortest {
            out.push_str(to);
            out.push_str(rest);
        } else {
            out.push_str(part);
        }
    }
    out
}

/// Replaces a number directly followed by `ms`, `µs` or `s`, standing by itself.
fn durations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut inside_word = false;
    while let Some(first) = rest.chars().next() {
        let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let unit = ["ms", "µs", "s"].into_iter().find(|unit| number.starts_with(unit));
        let tail = unit.map(|unit| &number[unit.len()..]);
        match tail {
            Some(tail)
                if first.is_ascii_digit() && !inside_word && !tail.starts_with(|next: char| next.is_alphanumeric()) =>
            {
                out.push_str("[TIME]");
                rest = tail;
                inside_word = true;
            }
            _ => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                inside_word = first.is_alphanumeric() || matches!(first, '.' | '_' | '-');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Filters;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let mut filters = Filters::new();
        filters.literal("/tmp/x", "[TEMP]");
        filters.literal("/tmp/x/home", "[HOME]");
        filters.digests();
        assert_eq!(filters.apply(text), want);
    }

    #[test]
    fn replaces_paths_longest_first() {
        check("/tmp/x/home/.docker and /tmp/x/work", "[HOME]/.docker and [TEMP]/work");
    }

    #[test]
    fn replaces_ports() {
        check("127.0.0.1:41287/acme 127.0.0.1:", "127.0.0.1:[PORT]/acme 127.0.0.1:");
    }

    #[test]
    fn replaces_durations_only() {
        check("done in 1.25s (30ms), 2 files, v1.2s3, sha1s", "done in [TIME] ([TIME]), 2 files, v1.2s3, sha1s");
    }

    #[test]
    fn replaces_whole_digests() {
        let digest = "ab".repeat(32);
        check(&format!("sha256:{digest}, sha256:abc"), "sha256:[DIGEST], sha256:abc");
    }
}

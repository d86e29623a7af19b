//! Texts: command lines taken apart, and what differs from run to run made equal.

/// The words of a command line; single quotes keep spaces.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(ToOwned::to_owned));
        }
    }
    words
}

/// The text with digests and waiting times made equal. Deflated bytes differ between compressor versions, so neither
/// `sha256:` nor `zh:` is kept; `h1:` is about contents and stays, except where it sums up a digest.
pub(crate) fn steady(text: &str) -> String {
    let mut text = text.to_owned();
    for (mark, shown) in [("sha256:", "[DIGEST]"), ("sha256%3A", "[DIGEST]"), ("sha256-", "[DIGEST]"), ("zh:", "[ZIP]")]
    {
        text = replace_hex(&text, mark, shown);
    }
    text = short_digests(&text);
    text = replace_digits(&text, "(os error ", "[N]");
    text = temporary_names(&text);
    text = replace_digits(&text, ".oci.opentofu.org:", "[PORT]");
    let waits = text.split('\n').map(|line| match (line.rfind(" in "), line.ends_with(" s")) {
        (Some(at), true) if line.contains("; attempt ") => format!("{} in [WAIT]", &line[..at]),
        _ => line.to_owned(),
    });
    // The resolver's own words differ, most of all without a network.
    let waits = waits.map(|line| match line.split_once("failed to lookup address information: ") {
        Some((before, _)) => format!("{before}failed to lookup address information: [REASON]"),
        None => line,
    });
    in_order(waits.collect())
}

/// Lines about packages that were handled side by side come in any order; here they are sorted.
fn in_order(mut lines: Vec<String>) -> String {
    let is_outcome = |line: &String| {
        !line.starts_with(' ')
            && ["pushed", "packed", "copied", "present", "mounted", "fetched", "installed"]
                .iter()
                .any(|outcome| line.contains(&format!(": {outcome}")))
    };
    let mut start = 0;
    while start < lines.len() {
        let length = lines[start..].iter().take_while(|line| is_outcome(line)).count();
        lines[start..start + length].sort();
        start += length + 1;
    }
    lines.join("\n")
}

/// ` (0123456789ab)`, as copies name blobs, becomes ` ([HEX])`.
fn short_digests(text: &str) -> String {
    let mut parts = text.split(" (");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(" (");
        match part.split_once(')') {
            Some((hex, rest)) if hex.len() == 12 && hex.chars().all(|letter| letter.is_ascii_hexdigit()) => {
                out.push_str("[HEX])");
                out.push_str(rest);
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// `.tofu-oci-` and the random characters after it.
fn temporary_names(text: &str) -> String {
    let mut parts = text.split(".tofu-oci-");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '-');
        out.push_str(".tofu-oci-");
        out.push_str(if part.starts_with("lock") { "lock" } else { "[NAME]" });
        out.push_str(rest);
    }
    out
}

fn replace_digits(text: &str, mark: &str, shown: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(mark);
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        out.push_str(if rest.len() < part.len() { shown } else { "" });
        out.push_str(rest);
    }
    out
}

fn replace_hex(text: &str, mark: &str, shown: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
        out.push_str(mark);
        out.push_str(if part.len() - rest.len() == 64 { shown } else { &part[..part.len() - rest.len()] });
        out.push_str(rest);
    }
    out
}

#[test]
fn quotes_keep_words_together() {
    assert_eq!(words("install a@'~> 1.4' 'b c' d"), ["install", "a@", "~> 1.4", "b c", "d"]);
}

//! Addresses without what could be a secret.

/// Arguments whose values name a place and are never secrets.
const HARMLESS: [&str; 7] = ["archive", "checksum", "depth", "digest", "ref", "tag", "version"];

/// The address of a module, a mirror or anything else at a URL, with `***` in the place of user information (except
/// the plain user `git`), of the values of arguments that are not known to be harmless, such as `sshkey`, and of a fragment.
pub fn masked(source: &str) -> String {
    let (source, fragment) = source.split_once('#').map_or((source, ""), |(source, _)| (source, "#***"));
    let (place, arguments) = match source.split_once('?') {
        Some((place, arguments)) => (place, Some(arguments)),
        None => (source, None),
    };
    let mut shown = masked_user(place);
    for (position, argument) in arguments.into_iter().flat_map(|arguments| arguments.split('&')).enumerate() {
        shown.push(if position == 0 { '?' } else { '&' });
        match argument.split_once('=') {
            Some((name, value)) if !HARMLESS.contains(&name) && !value.is_empty() => {
                shown.push_str(name);
                shown.push_str("=***");
            }
            // A bare argument may be a signature as well as a name.
            None if !argument.is_empty() => shown.push_str("***"),
            _ => shown.push_str(argument),
        }
    }
    shown + fragment
}

/// The address with `***` in the place of user information alone: all before the last `@` of the first segment after
/// the scheme.
pub fn masked_user(place: &str) -> String {
    let start = place.find("://").map_or_else(|| place.find("::").map_or(0, |colons| colons + 2), |colon| colon + 3);
    let (scheme, rest) = place.split_at(start);
    match login_end(rest) {
        Some(at) if &rest[..at] != "git" => format!("{scheme}***{}", &rest[at..]),
        _ => place.to_owned(),
    }
}

/// Where the `@` after the user information of a place without its scheme stands: the last one before the path. A password may
/// hold slashes: then what follows the first colon is no port.
pub fn login_end(place: &str) -> Option<usize> {
    let (authority, _) = place.split_once('/').unwrap_or((place, ""));
    if let Some(at) = authority.rfind('@') {
        return Some(at);
    }
    let (_, port) = authority.split_once(':')?;
    let is_login = port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit());
    let mut ends = place.match_indices('@').map(|(at, _)| at).filter(|_| is_login);
    ends.rfind(|at| !place[at + 1..].starts_with("sha256:") && !place[at + 1..].starts_with("sha512:"))
}

/// The text without the user information in its URLs, except a user without a password for SSH, and the plain user `git`.
pub fn without_logins(text: &str) -> String {
    let mut pieces = text.split("://");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end =
            piece.find(|one: char| one.is_whitespace() || matches!(one, '/' | '?' | '#' | '\\' | '"' | '<' | '>'));
        let login = piece[..end.unwrap_or(piece.len())].rfind('@').map_or("", |at| &piece[..=at]);
        let stays = login == "git@" || plain.ends_with("ssh") && !login.contains(':');
        plain.push_str("://");
        plain.push_str(if stays { piece } else { &piece[login.len()..] });
    }
    plain
}

/// A path without the segment `~EXPIRES~CLIENT~SIGNATURE` by which a bridge lets clients in.
pub fn without_link(path: &str) -> String {
    let is_link = |segment: &&str| {
        let plain = segment.replace("%7E", "~").replace("%7e", "~");
        plain.starts_with('~') && plain.matches('~').count() == 3
    };
    path.split('/').filter(|segment| !is_link(segment)).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_kept_the_logins_of_its_urls() {
        let check = |text: &str, want: &str| assert_eq!(without_logins(text), want);
        check("https://gitlab-ci-token:glpat-1@x.example/a/b.git", "https://x.example/a/b.git");
        check("see https://t@x.example, git+https://u:p@r", "see https://x.example, git+https://r");
        check(r#"["https://a.example","https://u:p@q@b.example"]"#, r#"["https://a.example","https://b.example"]"#);
        for kept in
            ["Jane <jane@x.example>", "https://x/a@b", "git@x:a/b", "ssh://git@x/a", "ssh://me@x/a", "git::ssh://me@x"]
        {
            check(kept, kept);
        }
        check("ssh://me:pw@x/a", "ssh://x/a");
        check("https://x.example?mail=a@b.example https://x#a@b", "https://x.example?mail=a@b.example https://x#a@b");
    }

    #[track_caller]
    fn check(source: &str, want: &str) {
        assert_eq!(masked(source), want);
    }

    #[test]
    fn secrets_are_not_shown() {
        check("oci://user:pw@example.com/foo?tag=1", "oci://***@example.com/foo?tag=1");
        check("git::https://token@example.com/foo", "git::https://***@example.com/foo");
        check("https://a@b:c@example.com/foo", "https://***@example.com/foo");
        check("me:pw@example.com:foo", "***@example.com:foo");
        check("me:a/b@example.com/foo", "***@example.com/foo");
        check("localhost:5000/acme/x@sha256:00", "localhost:5000/acme/x@sha256:00");
        check("example.com/acme/a@b", "example.com/acme/a@b");
        check("git::me@example.com:foo", "git::***@example.com:foo");
        check("git@github.com:acme/x?ref=v1", "git@github.com:acme/x?ref=v1");
        check("ssh://git@example.com/a?sshkey=AAAA&ref=v1", "ssh://git@example.com/a?sshkey=***&ref=v1");
        check("https://example.com/a?b@c=d#secret", "https://example.com/a?b@c=***#***");
        check("https://example.com/a@b", "https://example.com/a@b");
        check("https://u:pw@example.com/?hunter2&ref=v1", "https://***@example.com/?***&ref=v1");
        check("https://example.com/a?", "https://example.com/a?");
    }
}

//! Valid addresses of network mirrors.

use std::net::Ipv6Addr;

/// Checks that Go reads `text` as a URL, and that it is an `https` one with a host.
///
/// Spec: Go 1.26, net/url; `OpenTofu` 1.12, provider sources.
pub fn check(text: &str) -> Result<(), &'static str> {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return Err("it contains a control character");
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    escapes(fragment)?;
    let (scheme, rest) = scheme(text)?;
    if !scheme.eq_ignore_ascii_case("https") {
        return Err("it must begin with https://");
    }
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    let Some(rest) = rest.strip_prefix("//") else { return Err("it must begin with https://") };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    escapes(path)?;
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            user_information(user)?;
            host
        }
        None => authority,
    };
    if host.is_empty() { Err("it has no host") } else { check_host(host) }
}

/// The scheme, if there is one, and what follows its colon.
fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (index, character) in text.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index == 0 => return Err("it has no scheme before the colon"),
            ':' => return Ok((text.get(..index).unwrap_or_default(), text.get(index + 1..).unwrap_or_default())),
            _ => break,
        }
    }
    Ok(("", text))
}

/// Whether each `%` has two hexadecimal digits after it.
fn escapes(text: &str) -> Result<(), &'static str> {
    let broken = text.split('%').skip(1).any(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_none_or(|digits| !digits.iter().all(u8::is_ascii_hexdigit))
    });
    if broken { Err("a % in it is not followed by two hexadecimal digits") } else { Ok(()) }
}

fn user_information(text: &str) -> Result<(), &'static str> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(character);
    if !text.chars().all(allowed) {
        return Err("the part before its @ has a character that does not belong there");
    }
    escapes(text)
}

fn check_host(host: &str) -> Result<(), &'static str> {
    const PORT: &str = "its port is not a number";
    let optional_port = |text: &str| {
        text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if host.starts_with('[') {
        let Some((literal, port)) = host.rsplit_once(']') else { return Err("a [ in its host is not closed") };
        if !optional_port(port) {
            return Err(PORT);
        }
        let (number, _zone) = literal.split_once("%25").unwrap_or((literal, ""));
        if number.strip_prefix('[').is_none_or(|number| number.parse::<Ipv6Addr>().is_err()) {
            return Err("what stands in [ ] is not an IPv6 address");
        }
    } else if host.contains('[') {
        return Err("a [ stands inside its host");
    } else if let Some(colon) = host.rfind(':')
        && !optional_port(host.get(colon..).unwrap_or_default())
    {
        return Err(PORT);
    }
    let allowed = |character: char| {
        !character.is_ascii() || character.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(character)
    };
    if !host.chars().all(allowed) {
        return Err("its host has a character that does not belong there");
    }
    escapes(host)?;
    // Escapes in a host are for bytes that are not ASCII, and for the zone of an IPv6 address.
    let zone = host.starts_with('[') && host.contains("%25");
    let ascii = host.split('%').skip(1).any(|rest| rest.starts_with(|digit: char| ('0'..='7').contains(&digit)));
    if ascii && !zone { Err("a % in its host encodes a plain character") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn an_https_address_with_a_host_is_one() {
        for text in [
            "https://mirror.example.test/p/",
            "HTTPS://mirror.example.test",
            "https://mirror.example.test:8443/p/?a=%zz#x",
            "https://user:pass@mirror.example.test/",
            "https://mirror.example.test:/",
            "https://[::1]:8080/",
            "https://[fe80::1%25en0]/",
            "https://é.example.test/é",
            "https://mirror_example/",
            "https://mirror.example.test:99999/",
            "https://:443/",
            "https://%c3%a9/",
            "https://a:80:90/",
            "https://a<b>/",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for text in [
            "",
            "mirror.example.test/p/",
            "//mirror.example.test/",
            "http://mirror.example.test/",
            "https:/mirror.example.test/",
            "https:mirror.example.test",
            "https:///p/",
            "https://",
            "https://mirror example/",
            "https://mirror.example.test/%zz",
            "https://mirror.example.test/#%",
            "https://mirror.example.test:x/",
            "https://a:b:c/",
            "https://[::1/",
            "https://[::1]x/",
            "https://[::1]%41/",
            "https://[a]/",
            "https://a[b/",
            "https://u%zz@a/",
            "https://a%41/",
            "https://a b@c/",
            "https://a\\b/",
            "https://user@/",
            "https://a\n/",
            ":https://a/",
            "1https://a/",
            " https://a/",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}

//! Private keys that are no text.

/// Whether the bytes are packets of OpenPGP as a program would read them, with a secret key among them.
///
/// Spec: RFC 9580, sections 4.2, 5.5.1.3 and 9.1.
pub(super) fn is_openpgp_secret(bytes: &[u8]) -> bool {
    const SIGNATURE: u8 = 2;
    const SECRET_KEY: u8 = 5;
    const PUBLIC_KEY: u8 = 6;
    const SECRET_SUBKEY: u8 = 7;
    /// A marker, trust, a name, a public subkey, an attribute.
    const OTHERS: [u8; 5] = [10, 12, 13, 14, 17];
    let mut left = bytes;
    while let Some((tag, body, after)) = openpgp_packet(left) {
        let is_packet = after.first().is_none_or(|first| first & 0x80 != 0);
        match tag {
            SECRET_KEY | SECRET_SUBKEY => return is_packet && is_openpgp_key(body),
            PUBLIC_KEY if is_openpgp_key(body) => {}
            // A signature alone begins no keys.
            SIGNATURE if left.len() < bytes.len() => {}
            tag if OTHERS.contains(&tag) => {}
            _ => return false,
        }
        left = after;
    }
    false
}

fn is_openpgp_key(body: &[u8]) -> bool {
    match body {
        [version @ (3..=6), _, _, _, _, more @ ..] => {
            // Version 3 has its days of validity before the algorithm.
            let algorithm = more.get(if *version == 3 { 2 } else { 0 });
            algorithm.is_some_and(|algorithm| matches!(algorithm, 1..=3 | 16..=19 | 22 | 25..=28))
        }
        _ => false,
    }
}

/// The tag of the first packet, its body, and what follows it.
fn openpgp_packet(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let big = |bytes: &[u8]| bytes.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let (first, rest) = bytes.split_first()?;
    let (tag, length, at) = match (first & 0xc0, first & 0x3f) {
        (0xc0, tag) => match *rest.first()? {
            short @ 0..192 => (tag, usize::from(short), 1),
            middle @ 192..224 => (tag, ((usize::from(middle) - 192) << 8) + usize::from(*rest.get(1)?) + 192, 2),
            255 => (tag, big(rest.get(1..5)?), 5),
            _ => return None,
        },
        (0x80, old) => {
            let wide = 1 << (old & 3);
            if wide == 8 {
                return None;
            }
            (old >> 2, big(rest.get(..wide)?), wide)
        }
        _ => return None,
    };
    let (body, after) = rest.get(at..)?.split_at_checked(length)?;
    Some((tag, body, after))
}

/// Whether the bytes are one private key in DER: PKCS #8 (RFC 5958), PKCS #1 (RFC 8017), SEC 1 (RFC 5915) or DSA as OpenSSL
/// writes it.
pub(super) fn is_der_private_key(bytes: &[u8]) -> bool {
    const INTEGER: u8 = 2;
    const OCTETS: u8 = 4;
    const OID: u8 = 6;
    const SEQUENCE: u8 = 0x30;
    const OPTIONAL: [u8; 4] = [0xa0, 0xa1, 0x80, 0x81];
    let Some((SEQUENCE, body, [])) = der_value(bytes) else { return false };
    let Some(values) = der_values(body) else { return false };
    let Some(((INTEGER, [version @ 0..=1]), values)) = values.split_first() else { return false };
    let are_optional = |values: &[(u8, &[u8])]| values.iter().all(|(tag, _)| OPTIONAL.contains(tag));
    match values {
        [(SEQUENCE, algorithm), (OCTETS, key), rest @ ..] => {
            der_value(algorithm).is_some_and(|(tag, oid, _)| tag == OID && !oid.is_empty())
                && key.len() >= 16
                && are_optional(rest)
        }
        [(OCTETS, key), rest @ ..] => *version == 1 && (16..=72).contains(&key.len()) && are_optional(rest),
        // p, q, g, y, x of DSA; n, e, d, p, q, d mod p-1, d mod q-1, q^-1 of RSA, and more primes in version 1.
        numbers if numbers.len() == 5 || numbers.len() == 8 => {
            numbers.iter().all(|(tag, _)| *tag == INTEGER) && numbers[0].1.len() > 32
        }
        _ => false,
    }
}

/// The values in a body, as tags with theirs.
fn der_values(mut body: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut values = Vec::new();
    while !body.is_empty() {
        let (tag, value, after) = der_value(body)?;
        values.push((tag, value));
        body = after;
    }
    Some(values)
}

/// The tag of the first value, the value, and what follows it. Lengths beyond 64 KiB are no key's.
fn der_value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (length, body) = match *bytes.get(1)? {
        short @ ..=0x7f => (usize::from(short), &bytes[2..]),
        0x81 => (usize::from(*bytes.get(2)?), &bytes[3..]),
        0x82 => (usize::from(*bytes.get(2)?) << 8 | usize::from(*bytes.get(3)?), &bytes[4..]),
        _ => return None,
    };
    let (value, after) = body.split_at_checked(length)?;
    Some((bytes[0], value, after))
}

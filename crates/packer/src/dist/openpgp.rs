//! What an `OpenPGP` file holds, as far as it decides whether the file may be published.
//!
//! Nothing is verified here; the packets are walked, so that no private key hides behind a public one.
//!
//! Spec: RFC 9580, 4.2 "Packet Headers", 5 "Packet Types", 6 "Radix-64 Conversions".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

const BEGIN_KEY: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END_KEY: &str = "-----END PGP PUBLIC KEY BLOCK-----";
const BEGIN_SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";
const END_SIGNATURE: &str = "-----END PGP SIGNATURE-----";

/// Packet types.
const SIGNATURE: u8 = 2;
const SECRET_KEY: u8 = 5;
const PUBLIC_KEY: u8 = 6;
const SECRET_SUBKEY: u8 = 7;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Public keys, in ASCII armor whatever the file was in, without any text around it.
    PublicKeys(Vec<u8>),
    /// A detached signature.
    Signature,
    /// A private key of any kind.
    PrivateKey,
    /// Something else.
    Other,
}

/// What the bytes of a file are.
pub(super) fn content(bytes: &[u8]) -> Content {
    if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        return match of_packets(bytes) {
            Content::PublicKeys(packets) => Content::PublicKeys(armor(&packets).into_bytes()),
            other => other,
        };
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Content::Other };
    if text.lines().any(|line| line.trim_start().starts_with("-----BEGIN") && line.contains("PRIVATE KEY")) {
        return Content::PrivateKey;
    }
    let keys = blocks(text, BEGIN_KEY, END_KEY);
    if keys.is_empty() {
        let signatures = blocks(text, BEGIN_SIGNATURE, END_SIGNATURE);
        return match signatures.as_slice() {
            [only] if text.trim_start().starts_with(BEGIN_SIGNATURE) => of_block(only),
            _ => Content::Other,
        };
    }
    let mut armored = String::new();
    for block in keys {
        match of_block(&block) {
            Content::PublicKeys(_) => armored.push_str(&block),
            Content::PrivateKey => return Content::PrivateKey,
            _ => return Content::Other,
        }
    }
    Content::PublicKeys(armored.into_bytes())
}

/// Whether a file that was cut short begins with public keys in ASCII armor.
pub(super) fn begins_keys(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(BEGIN_KEY.as_bytes())
}

/// The blocks between these lines, with them, each line ended by a line feed.
fn blocks(text: &str, begin: &str, end: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines().map(str::trim_end) {
        if line == begin {
            open = Some(String::new());
        }
        let Some(block) = &mut open else { continue };
        block.push_str(line);
        block.push('\n');
        if line == end {
            found.extend(open.take());
        }
    }
    found
}

/// What one armored block holds.
fn of_block(block: &str) -> Content {
    let lines: Vec<&str> = block.lines().collect();
    // Headers end at the first empty line; the checksum begins with `=`.
    let body = lines.iter().skip_while(|line| !line.is_empty()).skip(1);
    let body: String = body.take_while(|line| !line.starts_with('=') && !line.starts_with('-')).copied().collect();
    BASE64.decode(body).map_or(Content::Other, |packets| of_packets(&packets))
}

fn of_packets(bytes: &[u8]) -> Content {
    let mut rest = bytes;
    let mut types = Vec::new();
    while !rest.is_empty() {
        let Some((packet_type, length)) = header(rest) else {
            return if types.iter().any(|found| is_secret(*found)) { Content::PrivateKey } else { Content::Other };
        };
        types.push(packet_type);
        // A private key that was cut short is one all the same.
        rest = rest.get(length..).unwrap_or_default();
    }
    match types.first() {
        _ if types.iter().any(|found| is_secret(*found)) => Content::PrivateKey,
        Some(&PUBLIC_KEY) => Content::PublicKeys(bytes.to_vec()),
        Some(&SIGNATURE) if types.iter().all(|found| *found == SIGNATURE) => Content::Signature,
        _ => Content::Other,
    }
}

fn is_secret(packet_type: u8) -> bool {
    matches!(packet_type, SECRET_KEY | SECRET_SUBKEY)
}

/// The type of the packet that begins here, and the bytes of header and body. Nothing for a length that keys and
/// signatures do not have: partial or up to the end.
fn header(bytes: &[u8]) -> Option<(u8, usize)> {
    let number = |from: usize, count: usize| {
        let bytes = bytes.get(from..from + count)?;
        Some(bytes.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    let first = *bytes.first().filter(|first| **first & 0x80 != 0)?;
    if first & 0x40 == 0 {
        let octets = match first & 3 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return None,
        };
        return Some((first >> 2 & 0x0f, 1 + octets + number(1, octets)?));
    }
    let (octets, length) = match number(1, 1)? {
        short @ 0..=191 => (1, short),
        medium @ 192..=223 => (2, ((medium - 192) << 8) + number(2, 1)? + 192),
        255 => (5, number(2, 4)?),
        _ => return None,
    };
    Some((first & 0x3f, 1 + octets + length))
}

/// The ASCII armor of public keys.
fn armor(packets: &[u8]) -> String {
    let body = BASE64.encode(packets);
    let lines: Vec<&str> = body.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    let checksum = BASE64.encode(&crc24(packets).to_be_bytes()[1..]);
    format!("{BEGIN_KEY}\n\n{}\n={checksum}\n{END_KEY}\n", lines.join("\n"))
}

/// Spec: RFC 9580, 6.1.1 "CRC-24 in \"C\"".
fn crc24(bytes: &[u8]) -> u32 {
    let mut crc = 0x00B7_04CE_u32;
    for byte in bytes {
        crc ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= 0x0186_4CFB;
            }
        }
    }
    crc & 0x00FF_FFFF
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a short body, its header in the new format.
    fn packet(packet_type: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xc0 | packet_type, u8::try_from(body.len()).expect("a short body")];
        bytes.extend(body);
        bytes
    }

    fn block(kind: &str, packets: &[u8]) -> String {
        let body = BASE64.encode(packets);
        format!("-----BEGIN PGP {kind}-----\nComment: x\n\n{body}\n=AAAA\n-----END PGP {kind}-----\n")
    }

    #[track_caller]
    fn check(bytes: &[u8], want: &str) {
        let got = match content(bytes) {
            Content::PublicKeys(armored) => format!("keys:\n{}", String::from_utf8_lossy(&armored)),
            other => format!("{other:?}"),
        };
        assert_eq!(got.trim_end(), want.trim_end());
    }

    #[test]
    fn public_keys_are_taken_in_armor_and_without_the_text_around_them() {
        let packets = [packet(6, b"key"), packet(13, b"Acme"), packet(2, b"sig"), packet(14, b"sub")].concat();
        let armored = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxgNrZXnNBEFjbWXCA3NpZ84Dc3Vi\n=Uxip\n-----END PGP PUBLIC KEY BLOCK-----";
        check(&packets, &format!("keys:\n{armored}"));
        let own = block("PUBLIC KEY BLOCK", &packets);
        let other = block("PUBLIC KEY BLOCK", &packet(6, b"other"));
        check(format!("our keys\r\n{own}and\n{other}bye").as_bytes(), &format!("keys:\n{own}{other}"));
    }

    #[test]
    fn signatures_are_signatures() {
        check(&packet(2, b"x"), "Signature");
        check(&[packet(2, b"x"), packet(2, b"y")].concat(), "Signature");
        check(&[0x89, 0x00, 0x01, b'x'], "Signature");
        check(block("SIGNATURE", &packet(2, b"x")).as_bytes(), "Signature");
    }

    #[test]
    fn a_private_key_hides_nowhere() {
        check(&packet(5, b"secret"), "PrivateKey");
        check(&[packet(6, b"key"), packet(7, b"secret")].concat(), "PrivateKey");
        check(&[packet(6, b"key"), vec![0xc7]].concat(), "Other");
        check(&[packet(5, b"secret"), vec![0xc7]].concat(), "PrivateKey");
        check(&packet(5, b"secret")[..4], "PrivateKey");
        check(block("PRIVATE KEY BLOCK", &packet(5, b"x")).as_bytes(), "PrivateKey");
        check(block("PUBLIC KEY BLOCK", &packet(5, b"x")).as_bytes(), "PrivateKey");
        let both = block("PUBLIC KEY BLOCK", &packet(6, b"x")) + &block("PUBLIC KEY BLOCK", &packet(7, b"x"));
        check(both.as_bytes(), "PrivateKey");
        check(b"-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n", "PrivateKey");
        check(b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n", "PrivateKey");
    }

    #[test]
    fn the_rest_is_passed_over() {
        check(b"", "Other");
        check(b"= A title\n\nabout a PRIVATE KEY\n", "Other");
        check(b"MEUCIQDP6OHCqFbsQhD1yqrsYNEB\n", "Other");
        check(&packet(1, b"message"), "Other");
        check(&[0xff, 0xfe, b'a', 0], "Other");
        check(b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n", "Other");
        check(b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n***\n-----END PGP PUBLIC KEY BLOCK-----\n", "Other");
        check(b"-----BEGIN PGP SIGNED MESSAGE-----\n\nx\n-----BEGIN PGP SIGNATURE-----\n\nwgF4\n-----END PGP SIGNATURE-----\n", "Other");
    }
}

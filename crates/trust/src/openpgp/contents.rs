//! What a file holds, as far as it decides whether the file may be published.
//!
//! Nothing is verified here; the packets are walked, so that no private key is published together with a public one.
//!
//! Spec: RFC 9580, 5 "Packet Types", 6 "Radix-64 Conversions".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use pgp::types::Tag;

use super::armor::{self, PacketFault};

const BEGIN_KEY: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END_KEY: &str = "-----END PGP PUBLIC KEY BLOCK-----";
const BEGIN_SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";
const END_SIGNATURE: &str = "-----END PGP SIGNATURE-----";

/// What a file that may be `OpenPGP` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenPgpContents {
    /// Public keys, in ASCII armor whatever the file was in, without any text around it.
    PublicKeys(Vec<u8>),
    Signature,
    /// A private key of any kind.
    PrivateKey,
    Other,
}

impl OpenPgpContents {
    /// Whether a file that was cut short begins with public keys in ASCII armor.
    pub fn begins_with_keys(bytes: &[u8]) -> bool {
        bytes.trim_ascii_start().starts_with(BEGIN_KEY.as_bytes())
    }

    /// Whether a file begins as a detached signature does, whatever follows, or is empty.
    pub fn begins_with_signature(bytes: &[u8]) -> bool {
        match bytes.first() {
            Some(first) if first & 0xc0 == 0xc0 => first & 0x3f == u8::from(Tag::Signature),
            Some(first) if first & 0x80 != 0 => first >> 2 & 0x0f == u8::from(Tag::Signature),
            Some(_) => bytes.trim_ascii_start().starts_with(BEGIN_SIGNATURE.as_bytes()),
            None => true,
        }
    }
}

/// What the bytes of a file are.
pub fn openpgp_contents(bytes: &[u8]) -> OpenPgpContents {
    if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        return match of_packets(bytes) {
            OpenPgpContents::PublicKeys(packets) => OpenPgpContents::PublicKeys(armor(&packets).into_bytes()),
            other => other,
        };
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return OpenPgpContents::Other };
    if text.lines().any(|line| line.trim_start().starts_with("-----BEGIN") && line.contains("PRIVATE KEY")) {
        return OpenPgpContents::PrivateKey;
    }
    let keys = blocks(text, BEGIN_KEY, END_KEY);
    if keys.is_empty() {
        let signatures = blocks(text, BEGIN_SIGNATURE, END_SIGNATURE);
        return match signatures.as_slice() {
            [only] if text.trim_start().starts_with(BEGIN_SIGNATURE) => of_block(only, END_SIGNATURE),
            _ => OpenPgpContents::Other,
        };
    }
    let mut armored = String::new();
    for block in keys {
        match of_block(&block, END_KEY) {
            OpenPgpContents::PublicKeys(_) => armored.push_str(&block),
            OpenPgpContents::PrivateKey => return OpenPgpContents::PrivateKey,
            _ => return OpenPgpContents::Other,
        }
    }
    OpenPgpContents::PublicKeys(armored.into_bytes())
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
fn of_block(block: &str, end: &str) -> OpenPgpContents {
    let mut lines = block.lines().skip(1);
    armor::block_bytes(&mut lines, end).map_or(OpenPgpContents::Other, |packets| of_packets(&packets))
}

fn of_packets(bytes: &[u8]) -> OpenPgpContents {
    let mut tags = Vec::new();
    let mut is_whole = true;
    for packet in armor::raw_packets(bytes) {
        match packet {
            Ok((header, _)) => tags.push(header.tag()),
            // What was cut short is what it began as.
            Err(PacketFault::CutShort(tag)) => tags.push(tag),
            Err(PacketFault::NoLength(tag)) => {
                tags.push(tag);
                is_whole = false;
            }
            Err(PacketFault::NoHeader | PacketFault::TooMany) => is_whole = false,
        }
    }
    match tags.first() {
        _ if tags.iter().any(|tag| matches!(tag, Tag::SecretKey | Tag::SecretSubkey)) => OpenPgpContents::PrivateKey,
        Some(Tag::PublicKey) if is_whole => OpenPgpContents::PublicKeys(bytes.to_vec()),
        Some(Tag::Signature) if is_whole && tags.iter().all(|tag| *tag == Tag::Signature) => OpenPgpContents::Signature,
        _ => OpenPgpContents::Other,
    }
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
        let got = match openpgp_contents(bytes) {
            OpenPgpContents::PublicKeys(armored) => format!("keys:\n{}", String::from_utf8_lossy(&armored)),
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

//! ASCII armor, and the packets in a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgp::packet::{Packet, PacketHeader};
use pgp::types::{PacketLength, Tag};

/// The most packets that a file may have; no sensible file has as many.
const PACKETS: usize = 1 << 14;

/// What a file is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArmorBlock {
    Keys,
    Signatures,
}

/// A file that holds something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unframed {
    /// An armored secret key.
    Secret,
    /// Something else, in words.
    Malformed(String),
}

/// A packet: its kind, and what it says or why that cannot be read.
pub(super) type ReadPacket = (Tag, Result<Packet, pgp::errors::Error>);

/// What ends a walk over packets before the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PacketFault {
    /// The file has more packets than make sense.
    #[error("it has more than {PACKETS} packets")]
    TooMany,
    /// A packet cannot begin with these bytes.
    #[error("it has bytes that are not a packet")]
    NoHeader,
    /// The header of this packet does not say how long it is.
    #[error("it has a packet without a length")]
    NoLength(Tag),
    /// The file ends within this packet.
    #[error("it ends within a packet")]
    CutShort(Tag),
}

impl ArmorBlock {
    fn label(self) -> &'static str {
        match self {
            Self::Keys => "PGP PUBLIC KEY BLOCK",
            Self::Signatures => "PGP SIGNATURE",
        }
    }
}

/// The bytes of a file that is binary or holds one or more armored blocks with only white space around them.
///
/// The checksum after a block is not looked at, as RFC 9580 demands: signatures protect more.
///
/// Spec: RFC 9580, section 6.
pub(super) fn bytes(file: &[u8], block: ArmorBlock) -> Result<Vec<u8>, Unframed> {
    if file.first().is_some_and(|first| first & 0x80 != 0) {
        return Ok(file.to_vec());
    }
    let malformed = |problem: &str| Unframed::Malformed(problem.to_owned());
    let text = std::str::from_utf8(file).map_err(|_| malformed("it is neither binary nor ASCII armor"))?;
    let mut lines = text.lines().map(str::trim_end);
    let mut all = Vec::new();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        let label = line
            .strip_prefix("-----BEGIN ")
            .and_then(|rest| rest.strip_suffix("-----"))
            .ok_or_else(|| malformed("it has text outside of the ASCII armor"))?;
        if label == "PGP PRIVATE KEY BLOCK" {
            return Err(Unframed::Secret);
        }
        if label != block.label() {
            return Err(Unframed::Malformed(format!("it is a {label:?} where a {:?} belongs", block.label())));
        }
        let end = format!("-----END {label}-----");
        all.extend(block_bytes(&mut lines, &end).ok_or_else(|| malformed("the ASCII armor is damaged"))?);
        blocks += 1;
    }
    if blocks == 0 {
        return Err(malformed("it is empty"));
    }
    Ok(all)
}

/// The bytes of a block after its first line, up to the last one.
pub(super) fn block_bytes<'a>(lines: &mut impl Iterator<Item = &'a str>, end: &str) -> Option<Vec<u8>> {
    for header in lines.by_ref() {
        if header.is_empty() {
            break;
        }
        header.split_once(':')?;
    }
    let mut body = String::new();
    let mut checksum = false;
    for line in lines {
        if line == end {
            return STANDARD.decode(body).ok();
        }
        if checksum {
            return None;
        }
        match line.strip_prefix('=') {
            Some(_) => checksum = true,
            None => body.push_str(line),
        }
    }
    None
}

/// Reads the packets of a file one after the other; each must be there whole.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Result<ReadPacket, PacketFault>> + '_ {
    raw_packets(bytes).map(|packet| packet.map(|(header, body)| (header.tag(), Packet::from_reader(header, body))))
}

/// Walks over the packets of a file without reading what is in them.
///
/// Spec: RFC 9580, section 4.2: lengths that are not known beforehand are for data packets alone.
pub(super) fn raw_packets(bytes: &[u8]) -> impl Iterator<Item = Result<(PacketHeader, &[u8]), PacketFault>> + '_ {
    let mut rest = bytes;
    let mut count = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        count += 1;
        let read = if count > PACKETS { Err(PacketFault::TooMany) } else { raw_packet(&mut rest) };
        if read.is_err() {
            rest = &[];
        }
        Some(read)
    })
}

fn raw_packet<'a>(rest: &mut &'a [u8]) -> Result<(PacketHeader, &'a [u8]), PacketFault> {
    let header = PacketHeader::try_from_reader(&mut *rest).map_err(|_| PacketFault::NoHeader)?;
    let PacketLength::Fixed(length) = header.packet_length() else {
        return Err(PacketFault::NoLength(header.tag()));
    };
    let (body, after) = usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length))
        .ok_or(PacketFault::CutShort(header.tag()))?;
    *rest = after;
    Ok((header, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, want: &str) {
        let found = match bytes(file.as_bytes(), ArmorBlock::Signatures) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(Unframed::Secret) => "secret".to_owned(),
            Err(Unframed::Malformed(problem)) => problem,
        };
        assert_eq!(found, want);
    }

    const ONE: &str = "-----BEGIN PGP SIGNATURE-----\nVersion: x\n\naGVs\nbG8=\n=abcd\n-----END PGP SIGNATURE-----\n";

    #[test]
    fn reads_armor() {
        check(ONE, "hello");
        check(&ONE.replace('\n', "\r\n"), "hello");
        check(&ONE.replace("=abcd\n", ""), "hello");
        check(&format!("\n{ONE}\n \n{ONE}"), "hellohello");
    }

    #[test]
    fn text_around_armor_is_refused() {
        check(&format!("see below\n{ONE}"), "it has text outside of the ASCII armor");
        check(&format!("{ONE}and more"), "it has text outside of the ASCII armor");
        check("", "it is empty");
        check("\n\n", "it is empty");
    }

    #[test]
    fn damaged_armor_is_refused() {
        check(&ONE.replace("VERSION", ""), "hello");
        check(&ONE.replace("bG8=", "b-8="), "the ASCII armor is damaged");
        check(&ONE.replace("-----END", "-----ENDE"), "the ASCII armor is damaged");
        check(&ONE.replace("=abcd", "=abcd\naGVs"), "the ASCII armor is damaged");
        check(&ONE.replace("Version: x", "Version"), "the ASCII armor is damaged");
    }

    #[test]
    fn another_block_is_refused() {
        check(&ONE.replace("SIGNATURE", "MESSAGE"), "it is a \"PGP MESSAGE\" where a \"PGP SIGNATURE\" belongs");
        check(&ONE.replace("SIGNATURE", "PRIVATE KEY BLOCK"), "secret");
    }

    #[test]
    fn packets_that_are_not_whole_are_refused() {
        let problem = |bytes: &[u8]| packets(bytes).find_map(Result::err).map(|fault| fault.to_string());
        assert_eq!(problem(&[0xca, 3, b'P', b'G', b'P']), None);
        assert_eq!(problem(&[0xca, 3, b'P', b'G']).as_deref(), Some("it ends within a packet"));
        assert_eq!(problem(&[0xca, 3, b'P', b'G', b'P', 0]).as_deref(), Some("it has bytes that are not a packet"));
        assert_eq!(problem(&[0xca]).as_deref(), Some("it has bytes that are not a packet"));
        assert_eq!(problem(&[0xab, 0]).as_deref(), Some("it has a packet without a length"));
        assert_eq!(problem(&[0xca, 0].repeat(PACKETS + 1)).as_deref(), Some("it has more than 16384 packets"));
    }
}

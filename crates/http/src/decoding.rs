//! What becomes of a body that comes compressed, although nobody asked for that.
//!
//! A file that is compressed itself may be labelled so by mistake: web servers derive the label from the end of its name. Then
//! what comes is the file.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;

/// What a gzip stream begins with.
///
/// Spec: RFC 1952, section 2.3.1.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// So many bytes are decoded at once. They become a thousand times as many at most.
const STEP: usize = 1024;

/// So many bytes may come before as many have been decoded as that.
const SLACK: u64 = 64 << 10;

/// A body on its way from what comes to what was asked for.
pub(crate) struct Decoding {
    decoder: MultiGzDecoder<Vec<u8>>,
    kind: BodyKind,
    /// Whether the file that was asked for has the name or the media type of a compressed one.
    of_compressed: bool,
    /// What has come and is not decoded yet.
    pending: Vec<u8>,
    /// What has come, as long as it is not known what it is.
    held: Vec<u8>,
    came: u64,
    decoded: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    Unknown,
    Gzip,
    /// The label is wrong.
    AsItIs,
}

impl Decoding {
    /// Of a body with this content encoding; `None` if it is not known here.
    pub(crate) fn of(encoding: &str, of_compressed: bool) -> Option<Self> {
        let is_known = encoding.eq_ignore_ascii_case("gzip") || encoding.eq_ignore_ascii_case("x-gzip");
        is_known.then(|| Self {
            decoder: MultiGzDecoder::new(Vec::new()),
            kind: BodyKind::Unknown,
            of_compressed,
            pending: Vec::new(),
            held: Vec::new(),
            came: 0,
            decoded: 0,
        })
    }

    /// What comes is what was asked for.
    pub(crate) fn take_as_it_is(&mut self) {
        self.kind = BodyKind::AsItIs;
    }

    /// Whether that is known.
    pub(crate) fn is_as_it_is(&self) -> bool {
        self.kind == BodyKind::AsItIs
    }

    /// More of what comes.
    pub(crate) fn add(&mut self, came: &[u8]) {
        self.came += came.len() as u64;
        self.pending.extend_from_slice(came);
    }

    /// The next piece of what was asked for, not larger than about a mebibyte; `None` if more must come first.
    ///
    /// # Errors
    /// If what came is damaged, or far more than what it stands for.
    pub(crate) fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.kind == BodyKind::Unknown {
            if self.held.len() + self.pending.len() < MAGIC.len() {
                return Ok(None);
            }
            if self.held.is_empty() && !self.pending.starts_with(&MAGIC) {
                self.kind = BodyKind::AsItIs;
            } else if !self.of_compressed {
                self.kind = BodyKind::Gzip;
            }
        }
        while self.kind != BodyKind::AsItIs && !self.pending.is_empty() {
            let step: Vec<u8> = self.pending.drain(..STEP.min(self.pending.len())).collect();
            self.decoder.write_all(&step)?;
            self.decoder.flush()?;
            if self.kind == BodyKind::Unknown {
                self.held.extend_from_slice(&step);
                let decoded = self.decoder.get_ref();
                if decoded.len() < MAGIC.len() {
                    // Only what says nothing comes on and on without its first bytes.
                    if self.held.len() as u64 > SLACK {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    continue;
                }
                if !decoded.starts_with(&MAGIC) {
                    self.kind = BodyKind::AsItIs;
                    self.held.append(&mut self.pending);
                    self.pending = std::mem::take(&mut self.held);
                    break;
                }
                self.kind = BodyKind::Gzip;
            }
            let decoded = std::mem::take(self.decoder.get_mut());
            self.decoded += decoded.len() as u64;
            if self.came - self.pending.len() as u64 > 2 * self.decoded + SLACK {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if !decoded.is_empty() {
                return Ok(Some(decoded.into()));
            }
        }
        let plain = if self.kind == BodyKind::AsItIs { std::mem::take(&mut self.pending) } else { Vec::new() };
        Ok((!plain.is_empty()).then(|| plain.into()))
    }

    /// What is left when nothing more comes.
    ///
    /// # Errors
    /// If the end is missing.
    pub(crate) fn end(&mut self) -> io::Result<Option<Bytes>> {
        let left = if self.kind == BodyKind::Gzip {
            self.decoder.try_finish()?;
            std::mem::take(self.decoder.get_mut())
        } else {
            self.held.append(&mut self.pending);
            std::mem::take(&mut self.held)
        };
        Ok((!left.is_empty()).then(|| left.into()))
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// What becomes of a body that comes in pieces of this size.
    fn decoded(body: &[u8], of_compressed: bool, size: usize) -> io::Result<Vec<u8>> {
        let mut decoding = Decoding::of("gzip", of_compressed).unwrap();
        let mut all = Vec::new();
        for piece in body.chunks(size) {
            decoding.add(piece);
            while let Some(piece) = decoding.next()? {
                assert!(piece.len() < 2 << 20);
                all.extend_from_slice(&piece);
            }
        }
        all.extend(decoding.end()?.unwrap_or_default());
        assert_eq!(decoding.end()?, None);
        Ok(all)
    }

    #[test]
    fn a_compressed_body_is_what_it_stands_for_and_a_wrong_label_changes_nothing() {
        let text = b"{\"versions\": []}".repeat(9000);
        let archive = gzip(&text);
        for size in [1, 7, 1 << 20] {
            assert_eq!(decoded(&gzip(&text), false, size).unwrap(), text);
            assert_eq!(decoded(&[gzip(b"a"), gzip(b"bc")].concat(), false, size).unwrap(), b"abc");
            assert_eq!(decoded(&text, false, size).unwrap(), text, "it is not compressed");
            assert_eq!(decoded(&archive, true, size).unwrap(), archive, "it is the file");
            assert_eq!(decoded(&gzip(&archive), true, size).unwrap(), archive);
            for short in [&b""[..], b"x", &MAGIC[..1]] {
                assert_eq!(decoded(short, true, size).unwrap(), short);
            }
        }
    }

    #[test]
    fn a_document_that_repeats_itself_a_thousand_times_is_read() {
        let zeros = [&b"[\""[..], &b"0".repeat(2 << 20), b"\"]"].concat();
        let came = gzip(&zeros);
        assert!(zeros.len() > 900 * came.len(), "{}", came.len());
        assert_eq!(decoded(&came, false, 7).unwrap(), zeros);
    }

    #[test]
    fn a_body_that_is_cut_off_or_damaged_is_an_error() {
        let whole = gzip(&b"some text".repeat(1000));
        for cut in [2, 9, 30, whole.len() - 1] {
            assert!(decoded(&whole[..cut], false, 7).is_err(), "{cut}");
        }
        let mut damaged = whole;
        let last = damaged.len() - 6;
        damaged[last] ^= 1;
        assert!(decoded(&damaged, false, 7).is_err());
    }

    #[test]
    fn a_body_without_contents_ends() {
        let empty: Vec<u8> = gzip(b"").repeat(10_000);
        assert!(decoded(&empty, false, 4096).is_err());
        assert!(decoded(&empty, true, 4096).is_err());
    }

    #[test]
    fn other_encodings_are_not_known() {
        assert!(Decoding::of("X-Gzip", false).is_some());
        for other in ["br", "deflate", "gzip, gzip", "zstd", ""] {
            assert!(Decoding::of(other, false).is_none(), "{other}");
        }
    }
}

//! A little DER: enough to write a timestamp and to take a certificate to pieces.
//!
//! Spec: X.690.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const UTF8: u8 = 0x0c;
pub(super) const TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
/// `[0]`, which holds other values.
pub(super) const ZERO: u8 = 0xa0;

/// A value of at most 64 KiB with its tag.
pub(super) fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).expect("a short value").to_be_bytes();
    let length = match (high, low) {
        (0, 0..128) => vec![low],
        (0, _) => vec![0x81, low],
        _ => vec![0x82, high, low],
    };
    [&[tag], length.as_slice(), content].concat()
}

/// A value that consists of others.
pub(super) fn of(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(tag, &parts.concat())
}

pub(super) fn oid(arcs: &[u64]) -> Vec<u8> {
    let mut content = vec![u8::try_from(arcs[0] * 40 + arcs[1]).expect("a small arc")];
    for arc in &arcs[2..] {
        let digits = (0..10).rev().map(|digit| (arc >> (7 * digit)) & 0x7f);
        let mut digits: Vec<u8> = digits
            .skip_while(|digit| *digit == 0)
            .map(|digit| 0x80 | u8::try_from(digit).expect("seven bits"))
            .collect();
        match digits.last_mut() {
            Some(last) => *last &= 0x7f,
            None => digits.push(0),
        }
        content.extend(digits);
    }
    tagged(0x06, &content)
}

/// The values that follow each other here, each with its tag.
pub(super) fn parts(mut der: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !der.is_empty() {
        let (head, length) = lengths(der);
        let (part, rest) = der.split_at(head + length);
        found.push(part);
        der = rest;
    }
    found
}

/// What is in a value.
pub(super) fn content(der: &[u8]) -> &[u8] {
    let (head, length) = lengths(der);
    &der[head..head + length]
}

fn lengths(der: &[u8]) -> (usize, usize) {
    match der[1] {
        short @ 0..128 => (2, usize::from(short)),
        long => {
            let end = 2 + usize::from(long & 0x7f);
            (end, der[2..end].iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
        }
    }
}

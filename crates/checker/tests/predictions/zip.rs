//! Zip archives, byte by byte: sound ones, and ones that no tool would write.

#![expect(clippy::cast_possible_wrap, reason = "sizes here are small")]

use std::io::Write as _;

use serde_json::Value;

/// An archive from its description; what is not named is as it should be.
///
/// `files`: entries with `name` (`times`, then `end`), `name_hex`, `text`, `mode` (octal, with the type), `method`, `deflated`, `flags`, `crc`, `size`,
/// `compressed`, `creator`, `attributes`, `extra` (hex), `offset_add`, `local` (`bad`), `descriptor` (`signed`, `plain`, `wrong`).
/// The archive: `comment`, `prefix`, `suffix` (each with `_times`), `records`, `size_add`, `offset_add`, `zip64`, `cut`, `bytes` (a text
/// instead of an archive).
pub(crate) fn archive(description: &Value) -> Vec<u8> {
    if let Some(text) = description["bytes"].as_str() {
        return text.as_bytes().to_vec();
    }
    let default = serde_json::json!([{"name": "terraform-provider-widget_v1.0.0"}]);
    let files = description.get("files").unwrap_or(&default).as_array().expect("files is a list");
    let repeat = description["repeat"].as_u64().unwrap_or(1);
    let mut bytes = text(description, "prefix").into_bytes();
    let mut directory = Vec::new();
    let mut records = 0_u64;
    for file in files {
        for _ in 0..repeat {
            directory.extend(entry(file, &mut bytes));
            records += 1;
        }
    }
    // Offsets count from the archive's own beginning unless `prefix_counts`.
    let start = bytes.len() as u64;
    bytes.extend(&directory);
    end(description, &mut bytes, records, start, directory.len() as u64);
    bytes.extend(text(description, "suffix").into_bytes());
    let cut = usize::try_from(number(description, "cut", 0)).expect("a small number");
    bytes.truncate(bytes.len() - cut);
    bytes
}

fn entry(file: &Value, bytes: &mut Vec<u8>) -> Vec<u8> {
    let name = match file["name_hex"].as_str() {
        Some(digits) => hex(digits),
        None => file["name"].as_str().unwrap_or_default().as_bytes().to_vec(),
    };
    let mut name = name.repeat(usize::try_from(number(file, "times", 1)).expect("a small number"));
    name.extend(text(file, "end").into_bytes());
    let directory = name.ends_with(b"/");
    let plain = file["text"].as_str().unwrap_or(if directory { "" } else { "#!/bin/sh\n" }).as_bytes();
    let deflated = file["deflated"].as_bool() == Some(true);
    let mut data = if deflated { deflate(plain) } else { plain.to_vec() };
    if let Some(digits) = file["data"].as_str() {
        data = hex(digits);
    }
    let method = number(file, "method", if deflated { 8 } else { 0 });
    let descriptor = file["descriptor"].as_str();
    let flags = number(file, "flags", if descriptor.is_some() { 8 } else { 0 });
    let crc = number(file, "crc", i64::from(crc32fast::hash(plain)));
    let size = number(file, "size", plain.len() as i64);
    let compressed = number(file, "compressed", data.len() as i64);
    let mode = file["mode"].as_str().unwrap_or(if directory { "040755" } else { "100755" });
    let mode = i64::from_str_radix(mode, 8).expect("an octal number");
    let attributes = number(file, "attributes", mode << 16);
    let creator = (number(file, "creator", 3) << 8) + 20;
    let extra = hex(file["extra"].as_str().unwrap_or_default());
    let offset = bytes.len() as i64 + number(file, "offset_add", 0);

    let bad = file["local"].as_str() == Some("bad");
    bytes.extend(if bad { b"PK\x03\x05" } else { b"PK\x03\x04" });
    for value in [20, flags, method, 0, 0x21] {
        two(bytes, value);
    }
    for value in [crc, compressed, size] {
        four(bytes, value);
    }
    two(bytes, name.len() as i64);
    two(bytes, 0);
    bytes.extend(&name);
    bytes.extend(&data);
    if let Some(kind) = descriptor {
        if kind != "plain" {
            bytes.extend(b"PK\x07\x08");
        }
        for value in [if kind == "wrong" { crc ^ 1 } else { crc }, compressed, size] {
            four(bytes, value);
        }
    }

    let mut header = b"PK\x01\x02".to_vec();
    for value in [creator, 20, flags, method, 0, 0x21] {
        two(&mut header, value);
    }
    for value in [crc, compressed, size] {
        four(&mut header, value);
    }
    for value in [name.len() as i64, extra.len() as i64, 0, 0, 0] {
        two(&mut header, value);
    }
    four(&mut header, attributes);
    four(&mut header, number(file, "offset", offset));
    header.extend(&name);
    header.extend(&extra);
    header
}

fn end(description: &Value, bytes: &mut Vec<u8>, records: u64, start: u64, size: u64) {
    let at = bytes.len() as i64;
    let records = number(description, "records", records as i64);
    let size = size as i64 + number(description, "size_add", 0);
    let start = start as i64 + number(description, "offset_add", 0);
    let zip64 = description["zip64"].as_str();
    if let Some(kind) = zip64 {
        bytes.extend(if kind == "bad" { b"PK\x06\x05" } else { b"PK\x06\x06" });
        eight(bytes, 44);
        two(bytes, 45);
        two(bytes, 45);
        four(bytes, 0);
        four(bytes, 0);
        for value in [records, records, size, start] {
            eight(bytes, value);
        }
        bytes.extend(b"PK\x06\x07");
        four(bytes, 0);
        eight(bytes, if kind == "lost" { 1 << 40 } else { at });
        four(bytes, 1);
    }
    let comment = text(description, "comment");
    bytes.extend(b"PK\x05\x06");
    two(bytes, 0);
    two(bytes, 0);
    let (records, size, start) =
        if zip64.is_some() { (0xffff, 0xffff_ffff, 0xffff_ffff) } else { (records, size, start) };
    two(bytes, records);
    two(bytes, records);
    four(bytes, size);
    four(bytes, start);
    two(bytes, number(description, "comment_length", comment.len() as i64));
    bytes.extend(comment.into_bytes());
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(digit).collect()
}

fn number(description: &Value, member: &str, default: i64) -> i64 {
    description[member].as_i64().unwrap_or(default)
}

fn text(description: &Value, member: &str) -> String {
    let unit = description[member].as_str().unwrap_or_default();
    unit.repeat(usize::try_from(number(description, &format!("{member}_times"), 1)).expect("a small number"))
}

fn two(bytes: &mut Vec<u8>, value: i64) {
    bytes.extend(&value.to_le_bytes()[..2]);
}

fn four(bytes: &mut Vec<u8>, value: i64) {
    bytes.extend(&value.to_le_bytes()[..4]);
}

fn eight(bytes: &mut Vec<u8>, value: i64) {
    bytes.extend(&value.to_le_bytes());
}

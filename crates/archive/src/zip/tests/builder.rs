//! Zip archives made by hand, so that each part of them can be wrong.

use std::io::Write as _;

use crate::zip::format::{CENTRAL, DESCRIPTOR, END, END64, LOCAL, LOCATOR64};

/// What one header says.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) compressed: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
}

impl Head {
    fn bytes(&self) -> Vec<u8> {
        let mut out = vec![20, 0];
        out.extend(self.flags.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.crc.to_le_bytes());
        out.extend(self.compressed.to_le_bytes());
        out.extend(self.size.to_le_bytes());
        out.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        out.extend(u16::try_from(self.extra.len()).unwrap().to_le_bytes());
        out
    }
}

/// One entry: both headers and what lies between.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) local: Head,
    pub(crate) central: Head,
    pub(crate) data: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) creator: u8,
    pub(crate) mode: u32,
    pub(crate) offset: i64,
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn raw(name: &str, content: &[u8], method: u16, data: Vec<u8>) -> Raw {
    let head = Head {
        name: name.as_bytes().to_vec(),
        flags: 0,
        method,
        crc: crc32fast::hash(content),
        compressed: u32::try_from(data.len()).unwrap(),
        size: u32::try_from(content.len()).unwrap(),
        extra: Vec::new(),
    };
    Raw { local: head.clone(), central: head, data, after: Vec::new(), creator: 3, mode: 0o100_644, offset: 0 }
}

/// A deflated file.
pub(crate) fn deflated(name: &str, content: &str) -> Raw {
    raw(name, content.as_bytes(), 8, deflate(content.as_bytes()))
}

/// A stored file.
pub(crate) fn stored(name: &str, content: &str) -> Raw {
    raw(name, content.as_bytes(), 0, content.as_bytes().to_vec())
}

/// A directory.
pub(crate) fn directory(name: &str) -> Raw {
    Raw { mode: 0o040_755, ..stored(name, "") }
}

impl Raw {
    /// The sizes behind the data, with or without signature, 32 or 64 bits wide.
    pub(crate) fn descriptor(mut self, signature: bool, wide: bool) -> Self {
        let head = self.central.clone();
        self.after = if signature { DESCRIPTOR.to_vec() } else { Vec::new() };
        self.after.extend(head.crc.to_le_bytes());
        for size in [head.compressed, head.size] {
            self.after.extend(size.to_le_bytes());
            self.after.extend(if wide { &[0; 4][..] } else { &[] });
        }
        (self.local.crc, self.local.compressed, self.local.size) = (0, 0, 0);
        self.both(|head| head.flags |= 8)
    }

    /// Changes both headers alike.
    pub(crate) fn both(mut self, change: impl Fn(&mut Head)) -> Self {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    pub(crate) fn local(mut self, change: impl Fn(&mut Head)) -> Self {
        change(&mut self.local);
        self
    }

    pub(crate) fn central(mut self, change: impl Fn(&mut Head)) -> Self {
        change(&mut self.central);
        self
    }

    pub(crate) fn mode(mut self, creator: u8, mode: u32) -> Self {
        (self.creator, self.mode) = (creator, mode);
        self
    }

    /// Moves the sizes into zip64 fields of the chosen headers.
    pub(crate) fn zip64(self, local: bool) -> Self {
        let widen = |head: &mut Head| {
            head.extra = vec![1, 0, 16, 0];
            head.extra.extend(u64::from(head.size).to_le_bytes());
            head.extra.extend(u64::from(head.compressed).to_le_bytes());
            (head.size, head.compressed) = (u32::MAX, u32::MAX);
        };
        let raw = self.central(widen);
        if local { raw.local(widen) } else { raw.local(|head| (head.size, head.compressed) = (u32::MAX, u32::MAX)) }
    }
}

/// A whole archive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Archive {
    pub(crate) entries: Vec<Raw>,
    pub(crate) before: Vec<u8>,
    pub(crate) between: Vec<u8>,
    pub(crate) before_directory: Vec<u8>,
    pub(crate) before_end: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) zip64_end: bool,
    pub(crate) count: i32,
    pub(crate) listed: Option<Vec<usize>>,
}

impl Archive {
    pub(crate) fn of(entries: impl IntoIterator<Item = Raw>) -> Self {
        Self { entries: entries.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.before.clone();
        let mut offsets = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if index == 1 {
                out.extend(&self.between);
            }
            offsets.push(i64::try_from(out.len()).unwrap());
            out.extend(LOCAL);
            out.extend(entry.local.bytes());
            for part in [&entry.local.name, &entry.local.extra, &entry.data, &entry.after] {
                out.extend(part);
            }
        }
        out.extend(&self.before_directory);
        let start = out.len();
        let listed = self.listed.clone().unwrap_or_else(|| (0..self.entries.len()).collect());
        for &index in &listed {
            let entry = &self.entries[index];
            out.extend(CENTRAL);
            out.extend([20, entry.creator]);
            out.extend(entry.central.bytes());
            out.extend([0; 6]);
            // The lower half says what MS-DOS knows.
            out.extend(entry.mode.rotate_left(16).to_le_bytes());
            out.extend(u32::try_from(offsets[index] + entry.offset).unwrap().to_le_bytes());
            out.extend(&entry.central.name);
            out.extend(&entry.central.extra);
        }
        let size = out.len() - start;
        out.extend(&self.before_end);
        let count = i32::try_from(listed.len()).unwrap() + self.count;
        self.end(&mut out, u16::try_from(count).unwrap(), start, size);
        out.extend(u16::try_from(self.comment.len()).unwrap().to_le_bytes());
        out.extend(&self.comment);
        out.extend(&self.after);
        out
    }

    fn end(&self, out: &mut Vec<u8>, count: u16, start: usize, size: usize) {
        let (mut size32, mut start32) = (u32::try_from(size).unwrap(), u32::try_from(start).unwrap());
        if self.zip64_end {
            let at = out.len() as u64;
            out.extend(END64);
            out.extend(44_u64.to_le_bytes());
            out.extend([45, 3, 45, 0]);
            out.extend([0; 8]);
            for value in [u64::from(count), u64::from(count), size as u64, start as u64] {
                out.extend(value.to_le_bytes());
            }
            out.extend(LOCATOR64);
            out.extend([0; 4]);
            out.extend(at.to_le_bytes());
            out.extend(1_u32.to_le_bytes());
            (size32, start32) = (u32::MAX, u32::MAX);
        }
        out.extend(END);
        out.extend([0; 4]);
        out.extend(count.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend(size32.to_le_bytes());
        out.extend(start32.to_le_bytes());
    }
}

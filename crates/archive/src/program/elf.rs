//! ELF: the machine from the header, the system from the OS/ABI byte, from notes and from the loader's name.
//!
//! Spec: System V ABI (generic), chapter 4, ELF header, and chapter 5, note section; the marks are those that the
//! kernels of FreeBSD, NetBSD and OpenBSD look for, and that Go 1.26 writes.

use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader as _};

use super::machine::{ELF_SYSTEMS, MARKED_ELF_SYSTEMS, Machine};

/// The system that an ELF file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElfSystem {
    /// It carries the mark of these.
    Marked(&'static [&'static str]),
    /// It carries no mark, as programs for Linux.
    Unmarked,
    /// A part of the file that could hold a mark was not there.
    Unknown,
}

impl ElfSystem {
    /// The systems that may run it, in two parts.
    pub(super) fn names(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Marked(names) => (names, &[]),
            Self::Unmarked => (ELF_SYSTEMS, &[]),
            Self::Unknown => (ELF_SYSTEMS, MARKED_ELF_SYSTEMS),
        }
    }

    /// The system that it is most likely for.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Marked(names) => names.first().copied().unwrap_or("linux"),
            Self::Unmarked | Self::Unknown => "linux",
        }
    }
}

const LINUX: ElfSystem = ElfSystem::Marked(&["linux", "android"]);
const FREEBSD: ElfSystem = ElfSystem::Marked(&["freebsd"]);
const NETBSD: ElfSystem = ElfSystem::Marked(&["netbsd"]);
const OPENBSD: ElfSystem = ElfSystem::Marked(&["openbsd"]);
const DRAGONFLY: ElfSystem = ElfSystem::Marked(&["dragonfly"]);
const SOLARIS: ElfSystem = ElfSystem::Marked(&["solaris", "illumos"]);

/// The system and the machine of an ELF file.
pub(super) fn read(head: &[u8]) -> Option<(ElfSystem, Machine)> {
    match head.get(4)? {
        1 => program::<elf::FileHeader32<Endianness>>(head),
        2 => program::<elf::FileHeader64<Endianness>>(head),
        _ => None,
    }
}

fn program<Elf: FileHeader<Endian = Endianness>>(head: &[u8]) -> Option<(ElfSystem, Machine)> {
    let header = Elf::parse(head).ok()?;
    let endian = header.endian().ok()?;
    let machine = machine(header.e_machine(endian), header.is_class_64(), header.is_little_endian())?;
    let system = by_abi(header.e_ident().os_abi).unwrap_or_else(|| by_segments(header, endian, head));
    Some((system, machine))
}

/// Go's name for the machine; `None` if the header names none.
fn machine(number: u16, wide: bool, little: bool) -> Option<Machine> {
    let name = match (number, wide, little) {
        (elf::EM_NONE, ..) => return None,
        (elf::EM_386, false, true) => "386",
        (elf::EM_X86_64, true, true) => "amd64",
        (elf::EM_X86_64, false, true) => "amd64p32",
        (elf::EM_ARM, false, true) => "arm",
        (elf::EM_ARM, false, false) => "armbe",
        (elf::EM_AARCH64, true, true) => "arm64",
        (elf::EM_AARCH64, true, false) => "arm64be",
        (elf::EM_LOONGARCH, true, true) => "loong64",
        (elf::EM_MIPS, false, false) => "mips",
        (elf::EM_MIPS, false, true) => "mipsle",
        (elf::EM_MIPS, true, false) => "mips64",
        (elf::EM_MIPS, true, true) => "mips64le",
        (elf::EM_PPC, false, false) => "ppc",
        (elf::EM_PPC64, true, false) => "ppc64",
        (elf::EM_PPC64, true, true) => "ppc64le",
        (elf::EM_RISCV, false, true) => "riscv",
        (elf::EM_RISCV, true, true) => "riscv64",
        (elf::EM_S390, false, false) => "s390",
        (elf::EM_S390, true, false) => "s390x",
        (elf::EM_SPARC | elf::EM_SPARC32PLUS, false, false) => "sparc",
        (elf::EM_SPARCV9, true, false) => "sparc64",
        _ => return Some(Machine::Other(number.into())),
    };
    Some(Machine::Go(name))
}

fn by_abi(abi: u8) -> Option<ElfSystem> {
    match abi {
        elf::ELFOSABI_NETBSD => Some(NETBSD),
        elf::ELFOSABI_GNU => Some(LINUX),
        elf::ELFOSABI_SOLARIS => Some(SOLARIS),
        elf::ELFOSABI_FREEBSD => Some(FREEBSD),
        elf::ELFOSABI_OPENBSD => Some(OPENBSD),
        _ => None,
    }
}

/// The mark in the segments: notes count before the loader.
fn by_segments<Elf: FileHeader<Endian = Endianness>>(header: &Elf, endian: Endianness, head: &[u8]) -> ElfSystem {
    let Ok(segments) = header.program_headers(endian, head) else { return ElfSystem::Unknown };
    let mut complete = !segments.is_empty();
    let mut by_loader = None;
    for segment in segments {
        match segment.interpreter(endian, head) {
            Ok(Some(name)) => by_loader = by_loader.or_else(|| loader(name)),
            Ok(None) => {}
            Err(_) => complete = false,
        }
        let Ok(notes) = segment.notes(endian, head) else {
            complete = false;
            continue;
        };
        let Some(mut notes) = notes else { continue };
        loop {
            match notes.next() {
                Ok(Some(found)) => {
                    if let Some(system) = note(found.name(), found.n_type(endian), found.desc(), endian) {
                        return system;
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    complete = false;
                    break;
                }
            }
        }
    }
    let unmarked = if complete { ElfSystem::Unmarked } else { ElfSystem::Unknown };
    by_loader.unwrap_or(unmarked)
}

/// The system that a note names.
fn note(name: &[u8], kind: u32, text: &[u8], endian: Endianness) -> Option<ElfSystem> {
    match name {
        b"FreeBSD" => Some(FREEBSD),
        b"NetBSD" => Some(NETBSD),
        b"OpenBSD" => Some(OPENBSD),
        b"DragonFly" => Some(DRAGONFLY),
        b"GNU" if kind == elf::NT_GNU_ABI_TAG => {
            let word: [u8; 4] = text.get(..4)?.try_into().ok()?;
            let system = if endian == Endianness::Little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) };
            match system {
                elf::ELF_NOTE_OS_LINUX => Some(LINUX),
                elf::ELF_NOTE_OS_SOLARIS2 => Some(SOLARIS),
                elf::ELF_NOTE_OS_FREEBSD => Some(FREEBSD),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The system whose loader has this path.
fn loader(path: &[u8]) -> Option<ElfSystem> {
    let path = std::str::from_utf8(path).ok()?.trim_end_matches('\0');
    let (folder, name) = path.rsplit_once('/')?;
    match name {
        "ld.elf_so" => Some(NETBSD),
        "ld-elf.so.1" => Some(FREEBSD),
        "ld-elf.so.2" => Some(DRAGONFLY),
        "ld.so" if folder == "/usr/libexec" => Some(OPENBSD),
        // In `/lib` and `/lib64` it is a loader of Linux.
        "ld.so.1" if folder == "/usr/lib" || ["/amd64", "/64", "/sparcv9"].iter().any(|end| folder.ends_with(end)) => {
            Some(SOLARIS)
        }
        _ if name.starts_with("ld-linux") || name.starts_with("ld-musl-") || folder == "/system/bin" => Some(LINUX),
        _ => None,
    }
}

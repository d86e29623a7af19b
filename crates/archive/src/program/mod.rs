//! The platforms that a program runs on, by its header.
//!
//! ```text
//! the first HEAD bytes of a file --Program::read--> Program --contradicts(platform)--> yes, or no
//!                                             \--> None: a script, or a format that is not known here
//! ```
//!
//! Only what a header says for certain counts. A script, an unknown format and a header that breaks off contradict
//! nothing.

mod elf;
mod find;
mod machine;
#[cfg(test)]
mod tests;

use std::fmt;

use object::read::macho::{FatArch, MachHeader as _, MachOFatFile32, MachOFatFile64};
use object::read::pe::ImageNtHeaders as _;
use object::{Endianness, LittleEndian as LE, macho, pe};
use tofu_oci_types::Platform;

use self::machine::{ELF_SYSTEMS, MARKED_ELF_SYSTEMS, Machine};
pub use find::{folder_program, folder_programs, zip_program, zip_programs};

/// The bytes of a file that are read: headers, notes and the name of the loader are in them.
const HEAD: usize = 64 << 10;

/// Most architectures of a universal binary. A Java class, which begins as one, says 45 or more here.
const MOST_SLICES: usize = 32;

/// A program for certain systems and machines, by its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    format: ProgramFormat,
    /// The machines that it runs on: several for a universal binary.
    machines: Vec<Machine>,
}

/// The format of a program, and what it says about the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramFormat {
    Elf(elf::ElfSystem),
    MachO,
    Pe,
    /// No program: an archive that has its name.
    Zip,
}

/// The architectures that [`Machine::Go`] can name. A platform of another one is never contradicted.
const ARCHITECTURES: &[&str] = &[
    "386", "amd64", "amd64p32", "arm", "arm64", "arm64be", "armbe", "loong64", "mips", "mips64", "mips64le", "mipsle",
    "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc", "sparc64",
];

const MACH_O_SYSTEMS: &[&str] = &["darwin", "ios"];
const PE_SYSTEMS: &[&str] = &["windows"];
/// Systems of other formats, which are not read here.
const OTHER_SYSTEMS: &[&str] = &["aix", "js", "plan9", "wasip1"];

impl Program {
    /// The program that begins with these bytes, at best the first 64 KiB; `None` if they are a script, of an unknown
    /// format, or too few.
    pub fn read(head: &[u8]) -> Option<Self> {
        let head = head.get(..HEAD).unwrap_or(head);
        match head.get(..4)? {
            b"\x7fELF" => {
                let (system, machine) = elf::read(head)?;
                Some(Self { format: ProgramFormat::Elf(system), machines: vec![machine] })
            }
            [b'M', b'Z', ..] => read_pe(head),
            b"PK\x03\x04" => Some(Self { format: ProgramFormat::Zip, machines: Vec::new() }),
            [0xca, 0xfe, 0xba, 0xbe] => slices(MachOFatFile32::parse(head).ok()?.arches()),
            [0xca, 0xfe, 0xba, 0xbf] => slices(MachOFatFile64::parse(head).ok()?.arches()),
            [0xfe, 0xed, 0xfa, 0xce] | [0xce, 0xfa, 0xed, 0xfe] => {
                let header = macho::MachHeader32::<Endianness>::parse(head, 0).ok()?;
                Some(Self::mach_o(vec![apple_machine(header.cputype(header.endian().ok()?))]))
            }
            [0xfe, 0xed, 0xfa, 0xcf] | [0xcf, 0xfa, 0xed, 0xfe] => {
                let header = macho::MachHeader64::<Endianness>::parse(head, 0).ok()?;
                Some(Self::mach_o(vec![apple_machine(header.cputype(header.endian().ok()?))]))
            }
            _ => None,
        }
    }

    fn mach_o(machines: Vec<Machine>) -> Self {
        Self { format: ProgramFormat::MachO, machines }
    }

    /// Whether the program is certainly not for the platform. A platform that Go does not know is contradicted only by
    /// the half that is known.
    pub fn contradicts(&self, platform: &Platform) -> bool {
        let runs_on = self.systems().any(|system| system == platform.os());
        let known_system = [ELF_SYSTEMS, MARKED_ELF_SYSTEMS, MACH_O_SYSTEMS, PE_SYSTEMS, OTHER_SYSTEMS]
            .iter()
            .any(|systems| systems.contains(&platform.os()));
        let fits = self.machines.iter().any(|machine| *machine == Machine::Go(known(platform.arch())));
        (known_system && !runs_on) || (ARCHITECTURES.contains(&platform.arch()) && !fits)
    }

    /// Whether it is an archive with the name of a program.
    pub fn is_archive(&self) -> bool {
        self.format == ProgramFormat::Zip
    }

    /// The systems that may run it, by Go's names.
    fn systems(&self) -> impl Iterator<Item = &'static str> {
        let (some, more): (&'static [&'static str], &'static [&'static str]) = match self.format {
            ProgramFormat::Elf(system) => system.names(),
            ProgramFormat::MachO => (MACH_O_SYSTEMS, &[]),
            ProgramFormat::Pe => (PE_SYSTEMS, &[]),
            ProgramFormat::Zip => (&[], &[]),
        };
        some.iter().chain(more).copied()
    }
}

/// The same name out of the table; empty if it is not in it.
fn known(architecture: &str) -> &'static str {
    ARCHITECTURES.iter().find(|name| **name == architecture).copied().unwrap_or_default()
}

/// `an ELF program for linux_amd64`, `a Mach-O program for darwin_amd64 and darwin_arm64`.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (format, system) = match self.format {
            ProgramFormat::Elf(system) => ("an ELF program", system.name()),
            ProgramFormat::MachO => ("a Mach-O program", "darwin"),
            ProgramFormat::Pe => ("a Windows program", "windows"),
            ProgramFormat::Zip => return f.write_str("a zip archive in place of its program"),
        };
        let platforms: Vec<String> = self
            .machines
            .iter()
            .map(|machine| match machine {
                Machine::Go(name) => format!("{system}_{name}"),
                Machine::Other(number) => format!("{system} on a machine with the number {number:#x}"),
            })
            .collect();
        write!(f, "{format} for {}", platforms.join(" and "))
    }
}

/// The slices of a universal binary; `None` if their number shows that it is something else.
fn slices<Fat: FatArch>(arches: &[Fat]) -> Option<Program> {
    let machines: Vec<Machine> = arches.iter().map(|slice| apple_machine(slice.cputype())).collect();
    (1..=MOST_SLICES).contains(&machines.len()).then(|| Program::mach_o(machines))
}

fn apple_machine(number: u32) -> Machine {
    match number {
        macho::CPU_TYPE_X86_64 => Machine::Go("amd64"),
        macho::CPU_TYPE_ARM64 => Machine::Go("arm64"),
        macho::CPU_TYPE_X86 => Machine::Go("386"),
        macho::CPU_TYPE_ARM => Machine::Go("arm"),
        macho::CPU_TYPE_POWERPC => Machine::Go("ppc"),
        macho::CPU_TYPE_POWERPC64 => Machine::Go("ppc64"),
        other => Machine::Other(other),
    }
}

/// A Windows program. `None` for a program of DOS, for one that runs on several systems (its first bytes are also a
/// shell script), and for one of .NET that is compiled where it runs.
fn read_pe(head: &[u8]) -> Option<Program> {
    if head.starts_with(b"MZqFpD") {
        return None;
    }
    let offset = u64::from(pe::ImageDosHeader::parse(head).ok()?.nt_headers_offset());
    let at = usize::try_from(offset).ok()?;
    let header = head.get(at..)?.strip_prefix(b"PE\0\0")?;
    let number = u16::from_le_bytes([*header.first()?, *header.get(1)?]);
    let machine = match number {
        pe::IMAGE_FILE_MACHINE_I386 => Machine::Go("386"),
        pe::IMAGE_FILE_MACHINE_AMD64 => Machine::Go("amd64"),
        pe::IMAGE_FILE_MACHINE_ARM | pe::IMAGE_FILE_MACHINE_THUMB | pe::IMAGE_FILE_MACHINE_ARMNT => Machine::Go("arm"),
        pe::IMAGE_FILE_MACHINE_ARM64 | pe::IMAGE_FILE_MACHINE_ARM64EC | pe::IMAGE_FILE_MACHINE_ARM64X => {
            Machine::Go("arm64")
        }
        0 => return None,
        other => Machine::Other(other.into()),
    };
    let mut headers = offset;
    if machine == Machine::Go("386")
        && let Ok((_, directories)) = pe::ImageNtHeaders32::parse(head, &mut headers)
        && directories
            .get(pe::IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR)
            .is_some_and(|directory| directory.virtual_address.get(LE) != 0)
    {
        return None;
    }
    Some(Program { format: ProgramFormat::Pe, machines: vec![machine] })
}

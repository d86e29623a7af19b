//! Machines and ELF systems, by Go's names.

/// The machine that a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// By Go's name, such as `amd64`.
    Go(&'static str),
    /// One that Go has no name for: the number in the header.
    Other(u32),
}

/// The systems whose programs are ELF files, except those that mark them.
pub(super) const ELF_SYSTEMS: &[&str] = &["android", "dragonfly", "hurd", "illumos", "linux", "solaris"];
/// The systems that run only ELF files that carry their mark: an OS/ABI byte, a note or a loader.
pub(super) const MARKED_ELF_SYSTEMS: &[&str] = &["freebsd", "netbsd", "openbsd"];

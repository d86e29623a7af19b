//! Which kind of folder release files lie in.

/// Which kind of folder was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistKind {
    /// GoReleaser's `dist/`.
    GoReleaser,
    /// A folder of `terraform-provider-TYPE_VERSION_OS_ARCH.zip` files.
    Zips,
    /// A folder of `OS_ARCH/` directories.
    Directories,
}

//! The names of platforms.

use tofu_oci_types::is_known_to_go;

/// The platform that a tag ends in: `1.0.0-linux_amd64`, `1.0.0_linux.amd64`, `1.0.0-linux-amd64`.
pub(super) fn at_the_end(tag: &str) -> Option<String> {
    let (rest, architecture) = tag.rsplit_once(['_', '.', '-'])?;
    let (_, os) = rest.rsplit_once(['_', '.', '-'])?;
    is_known_to_go(os, architecture).then(|| format!("{os}_{architecture}"))
}

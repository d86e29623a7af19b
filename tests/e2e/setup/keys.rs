//! Keys that protect nothing.

use super::Scene;

/// The password of every encrypted key of the fixtures.
pub(crate) const KEY_PASSWORD: &str = "fixture";

impl Scene {
    /// Puts a private key of the fixtures into the work folder, for its owner alone.
    pub(crate) fn key(&self, name: &str) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/cosign/test-keys");
        let bytes = std::fs::read(format!("{folder}/{name}")).expect("a key of the fixtures");
        let path = self.context.write(name, bytes);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("the file is ours");
        }
        let _ = path;
    }
}

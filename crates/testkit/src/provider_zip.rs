//! Provider packages as release tools make them: the same bytes from the same builder, every time.

use std::io::{Cursor, Write as _};

use sha2::{Digest as _, Sha256};
use tofu_oci_types::{Digest, PackageHash, Platform};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A provider's package for one platform.
///
/// The executable is a small text that names provider, version and platform (a shell script
/// that prints them), so two packages never have equal bytes.
#[derive(Clone, Debug)]
pub struct ProviderZip {
    provider_type: String,
    version: String,
    platform: Platform,
    executable: Option<Vec<u8>>,
    files: Vec<(String, Vec<u8>, u32)>,
}

impl ProviderZip {
    /// A package with its executable only. The platform reads `OS_ARCH`.
    pub fn new(provider_type: &str, version: &str, platform: &str) -> Self {
        let platform = platform.parse().expect("a fixture's platform reads OS_ARCH");
        let executable = format!("#!/bin/sh\necho terraform-provider-{provider_type} {version} {platform}\n");
        Self {
            provider_type: provider_type.to_owned(),
            version: version.to_owned(),
            platform,
            executable: Some(executable.into_bytes()),
            files: Vec::new(),
        }
    }

    /// The same with one more file (0644).
    #[must_use]
    pub fn file(self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.entry(name, bytes, 0o644)
    }

    /// The same with one more entry of this name, unchecked, and these mode bits.
    #[must_use]
    pub fn entry(mut self, name: &str, bytes: impl Into<Vec<u8>>, mode: u32) -> Self {
        self.files.push((name.to_owned(), bytes.into(), mode));
        self
    }

    /// The same with a file of so many bytes that do not compress.
    #[must_use]
    pub fn random_file(self, name: &str, bytes: usize) -> Self {
        let noise = noise(bytes);
        self.file(name, noise)
    }

    /// The same with other content in the executable.
    #[must_use]
    pub fn executable(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.executable = Some(bytes.into());
        self
    }

    /// The same without its executable.
    #[must_use]
    pub fn without_executable(mut self) -> Self {
        self.executable = None;
        self
    }

    /// The platform.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// `terraform-provider-NAME_VERSION_OS_ARCH.zip`.
    pub fn file_name(&self) -> String {
        format!("terraform-provider-{}_{}_{}.zip", self.provider_type, self.version, self.platform)
    }

    /// `terraform-provider-NAME_vVERSION`, with `.exe` for Windows.
    pub fn executable_name(&self) -> String {
        let extension = if self.platform.os() == "windows" { ".exe" } else { "" };
        format!("terraform-provider-{}_v{}{extension}", self.provider_type, self.version)
    }

    /// All entries with their modes: the added files in their order, then the executable.
    pub fn entries(&self) -> Vec<(String, Vec<u8>, u32)> {
        let executable = self.executable.iter().map(|bytes| (self.executable_name(), bytes.clone(), 0o755));
        self.files.iter().cloned().chain(executable).collect()
    }

    /// The zip: deflated, with the time stamp 1980-01-01 00:00, no directory entries.
    pub fn build(&self) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes, mode) in self.entries() {
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .last_modified_time(zip::DateTime::default())
                .unix_permissions(mode);
            writer.start_file(name, options).expect("a fixture's entry name is new");
            writer.write_all(&bytes).expect("memory takes what it is given");
        }
        writer.finish().expect("memory takes what it is given").into_inner()
    }

    /// The `h1:` of the files, computed as Go's `dirhash` does: one line a file, sorted by name.
    pub fn h1(&self) -> String {
        let mut files = self.entries();
        files.sort();
        let line = |(name, bytes, _): &(String, Vec<u8>, u32)| format!("{}  {name}\n", Digest::sha256(bytes).encoded());
        let lines: String = files.iter().map(line).collect();
        PackageHash::h1(&Sha256::digest(lines)).to_string()
    }
}

/// The same incompressible bytes every time (xorshift64).
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = std::iter::from_fn(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state.to_le_bytes())
    });
    words.flatten().take(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::ProviderZip;

    #[test]
    fn same_builder_gives_same_bytes() {
        let package = || ProviderZip::new("widget", "1.4.0", "windows_amd64").file("LICENSE", "x").random_file("n", 99);
        assert_eq!(package().build(), package().build());
        assert_eq!(package().file_name(), "terraform-provider-widget_1.4.0_windows_amd64.zip");
        assert_eq!(package().executable_name(), "terraform-provider-widget_v1.4.0.exe");
        let names: Vec<String> = package().entries().into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["LICENSE", "n", "terraform-provider-widget_v1.4.0.exe"]);
    }
}

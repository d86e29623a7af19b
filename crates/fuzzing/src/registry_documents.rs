//! The documents of registries of providers and of modules.

use crate::seeds;

/// Reads the bytes as a list of versions of a provider and of a module, and as the document of a package.
pub fn run(bytes: &[u8]) {
    tofu_oci_source::fuzzing::registry_documents(bytes);
    tofu_oci_source::fuzzing::module_versions(bytes);
}

/// One document of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let digest = "0123456789abcdef".repeat(4);
    let download = format!(
        r#"{{"protocols":["5.1","6.0"],"os":"linux","arch":"amd64","filename":"a.zip","download_url":"../a.zip","shasum":"{digest}","shasums_url":"https://cdn.example.com/S","shasums_signature_url":"/S.sig","signing_keys":{{"gpg_public_keys":[{{"ascii_armor":"-----BEGIN"}}]}},"packages":{{"linux_amd64":{{"hashes":["zh:{digest}","h1:x"],"package_size":7}}}}}}"#
    );
    seeds::of([
        download.as_str(),
        r#"{"versions":[{"version":"1.0.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]},{"version":"1.0.0-rc1"}],"warnings":["w"]}"#,
        r#"{"modules":[{"versions":[{"version":"v1.2.0"},{"version":"1.0.0+b"},{"version":"x"}]}]}"#,
        r#"{"modules":[]}"#,
    ])
}

//! The readers of foreign text, each as one function of bytes that panics if what must hold does not.
//!
//! ```text
//! TARGETS   name -> run, seeds
//!   fuzz/fuzz_targets/NAME.rs   libFuzzer makes the bytes                      (cargo xtask fuzz)
//!   the tests below             testdata/fuzz/NAME/*, and the seeds            (cargo test)
//!   main.rs                     writes the seeds, and prints the names         (for cargo xtask fuzz)
//! ```
//!
//! What it is not: part of the product. No crate uses it.

pub mod addresses;
pub mod bundle;
pub mod challenge;
pub mod cli_configuration;
pub mod cosign_payload;
pub mod credential_files;
pub mod discovery;
pub mod docs_pages;
pub mod git_answers;
pub mod hcl1;
pub mod ignore_file;
mod input;
pub mod key_files;
pub mod keyless_bundle;
pub mod layers;
pub mod layout_documents;
pub mod link_header;
pub mod links;
pub mod lock_files;
pub mod mirror_documents;
pub mod module_calls;
pub mod module_locations;
pub mod one_to_one;
pub mod openpgp;
pub mod ranges;
pub mod registry_documents;
pub mod repository_templates;
pub mod rewritten_configuration;
pub mod routes;
mod seeds;
pub mod sigstore_bundle;
mod tar_archive;
pub mod tf_configuration;
pub mod token_answer;
pub mod toml_files;
pub mod uri_templates;
pub mod versions;
pub mod written_methods;

/// A reader that is fuzzed.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// Its name: of its module, of its file in `fuzz/fuzz_targets`, and of its folder in `testdata/fuzz`.
    pub name: &'static str,
    /// Reads the bytes, whatever they are.
    pub run: fn(&[u8]),
    /// Inputs to begin with, from `testdata`.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every reader that is fuzzed, sorted by name.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "addresses", run: addresses::run, seeds: addresses::seeds },
    FuzzTarget { name: "bundle", run: bundle::run, seeds: bundle::seeds },
    FuzzTarget { name: "challenge", run: challenge::run, seeds: challenge::seeds },
    FuzzTarget { name: "cli_configuration", run: cli_configuration::run, seeds: cli_configuration::seeds },
    FuzzTarget { name: "cosign_payload", run: cosign_payload::run, seeds: cosign_payload::seeds },
    FuzzTarget { name: "credential_files", run: credential_files::run, seeds: credential_files::seeds },
    FuzzTarget { name: "discovery", run: discovery::run, seeds: discovery::seeds },
    FuzzTarget { name: "docs_pages", run: docs_pages::run, seeds: docs_pages::seeds },
    FuzzTarget { name: "git_answers", run: git_answers::run, seeds: git_answers::seeds },
    FuzzTarget { name: "hcl1", run: hcl1::run, seeds: hcl1::seeds },
    FuzzTarget { name: "ignore_file", run: ignore_file::run, seeds: ignore_file::seeds },
    FuzzTarget { name: "key_files", run: key_files::run, seeds: key_files::seeds },
    FuzzTarget { name: "keyless_bundle", run: keyless_bundle::run, seeds: keyless_bundle::seeds },
    FuzzTarget { name: "layers", run: layers::run, seeds: layers::seeds },
    FuzzTarget { name: "layout_documents", run: layout_documents::run, seeds: layout_documents::seeds },
    FuzzTarget { name: "link_header", run: link_header::run, seeds: link_header::seeds },
    FuzzTarget { name: "links", run: links::run, seeds: links::seeds },
    FuzzTarget { name: "lock_files", run: lock_files::run, seeds: lock_files::seeds },
    FuzzTarget { name: "mirror_documents", run: mirror_documents::run, seeds: mirror_documents::seeds },
    FuzzTarget { name: "module_calls", run: module_calls::run, seeds: module_calls::seeds },
    FuzzTarget { name: "module_locations", run: module_locations::run, seeds: module_locations::seeds },
    FuzzTarget { name: "one_to_one", run: one_to_one::run, seeds: one_to_one::seeds },
    FuzzTarget { name: "openpgp", run: openpgp::run, seeds: openpgp::seeds },
    FuzzTarget { name: "ranges", run: ranges::run, seeds: ranges::seeds },
    FuzzTarget { name: "registry_documents", run: registry_documents::run, seeds: registry_documents::seeds },
    FuzzTarget { name: "repository_templates", run: repository_templates::run, seeds: repository_templates::seeds },
    FuzzTarget {
        name: "rewritten_configuration",
        run: rewritten_configuration::run,
        seeds: rewritten_configuration::seeds,
    },
    FuzzTarget { name: "routes", run: routes::run, seeds: routes::seeds },
    FuzzTarget { name: "sigstore_bundle", run: sigstore_bundle::run, seeds: sigstore_bundle::seeds },
    FuzzTarget { name: "tf_configuration", run: tf_configuration::run, seeds: tf_configuration::seeds },
    FuzzTarget { name: "token_answer", run: token_answer::run, seeds: token_answer::seeds },
    FuzzTarget { name: "toml_files", run: toml_files::run, seeds: toml_files::seeds },
    FuzzTarget { name: "uri_templates", run: uri_templates::run, seeds: uri_templates::seeds },
    FuzzTarget { name: "versions", run: versions::run, seeds: versions::seeds },
    FuzzTarget { name: "written_methods", run: written_methods::run, seeds: written_methods::seeds },
];

#[cfg(test)]
mod tests;

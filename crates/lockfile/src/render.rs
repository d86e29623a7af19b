//! A lock file as text.

use std::fmt::Write as _;

use tofu_oci_hcl::hcl2_string;

use crate::{LockFile, Maintainer};

/// The first line of a file that Terraform maintains.
pub(crate) const TERRAFORM_HEADER: &str = "# This file is maintained automatically by \"terraform init\".";
const OPENTOFU_HEADER: &str = "# This file is maintained automatically by \"tofu init\".";

impl LockFile {
    /// The text, byte for byte as the maintaining program writes it.
    ///
    /// Spec: `OpenTofu` 1.12, `depsfile.SaveLocksToBytes`.
    pub fn to_text(&self) -> String {
        let header = match self.maintainer() {
            Maintainer::OpenTofu => OPENTOFU_HEADER,
            Maintainer::Terraform => TERRAFORM_HEADER,
        };
        let mut text = format!("{header}\n# Manual edits may be lost in future updates.\n");
        for (address, entry) in self.iter() {
            let constraints = entry.constraints.to_string();
            let hashes: Vec<&str> = entry.hashes.iter().map(tofu_oci_types::PackageHash::as_str).collect();
            block(&mut text, &address.to_string(), &entry.version.to_string(), &constraints, &hashes);
        }
        text
    }
}

fn block(text: &mut String, label: &str, version: &str, constraints: &str, hashes: &[&str]) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\nprovider {} {{", hcl2_string(label));
    if constraints.is_empty() {
        let _ = writeln!(text, "  version = {}", hcl2_string(version));
    } else {
        let _ =
            writeln!(text, "  version     = {}\n  constraints = {}", hcl2_string(version), hcl2_string(constraints));
    }
    if !hashes.is_empty() {
        text.push_str("  hashes = [\n");
        for hash in hashes {
            let _ = writeln!(text, "    {},", hcl2_string(hash));
        }
        text.push_str("  ]\n");
    }
    text.push_str("}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::LockEntry;
    use crate::parse::tests::vectors;

    #[test]
    fn renders_the_vectors_byte_for_byte() {
        vectors().each("render", |case| {
            let want = case["file"].as_str().unwrap();
            let text = match case.get("locks") {
                Some(locks) => lock_file(locks).to_text(),
                None => blocks(&case["blocks_in_order"]),
            };
            assert_eq!(text, want, "{}", case["name"]);
        });
    }

    fn lock_file(locks: &serde_json::Value) -> LockFile {
        let mut file = LockFile::default();
        for lock in locks.as_array().unwrap() {
            let text = |name: &str| lock[name].as_str().unwrap();
            let mut entry =
                LockEntry::new(text("version").parse().unwrap(), text("constraints_input").parse().unwrap());
            entry.hashes =
                lock["hashes"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap().parse().unwrap()).collect();
            file.insert(text("provider").parse().unwrap(), entry);
        }
        file
    }

    fn blocks(blocks: &serde_json::Value) -> String {
        let mut text = LockFile::default().to_text();
        for case in blocks.as_array().unwrap() {
            let member = |name: &str| case[name].as_str().unwrap();
            let hashes: Vec<&str> =
                case["hashes"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
            block(&mut text, member("label"), member("version"), member("constraints"), &hashes);
        }
        text
    }

    #[test]
    fn a_text_of_a_stranger_opens_no_block_and_evaluates_nothing() {
        for text in ["${file(\"x\")}", "%{ if true }", "\"\n}\nprovider \"b\" {", "a\\", "$${a", "${", "\u{1}\r\t"] {
            let mut file = String::new();
            block(&mut file, text, text, text, &[text]);
            let body: hcl_edit::structure::Body = file.parse().unwrap_or_else(|error| panic!("{error}\n{file}"));
            let blocks: Vec<_> = body.blocks().collect();
            assert_eq!((blocks.len(), body.attributes().count()), (1, 0), "{file}");
            assert_eq!(blocks[0].labels[0].as_str(), text, "{file}");
            for name in ["version", "constraints"] {
                let value = &blocks[0].body.get_attribute(name).unwrap().value;
                assert_eq!(value.as_str(), Some(text), "{file}");
            }
        }
    }

    #[test]
    fn hashes_are_sorted_bytewise_and_named_once() {
        let vectors = vectors();
        let order = vectors.member("hash_list_order");
        let list = |name: &str| -> Vec<String> {
            order[name].as_array().into_iter().flatten().map(|hash| hash.as_str().unwrap().to_owned()).collect()
        };
        let sorted: std::collections::BTreeSet<tofu_oci_types::PackageHash> =
            list("input").iter().map(|hash| hash.parse().unwrap()).collect();
        let sorted: Vec<String> = sorted.iter().map(ToString::to_string).collect();
        assert_eq!(sorted, list("output"));
    }
}

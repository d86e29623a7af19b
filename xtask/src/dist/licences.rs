//! The licence texts of all that the program is made of, each text once.

use std::collections::BTreeMap;

use super::dependencies::DistCrate;
use crate::failure::{ChoreFailure, ChoreResult};

/// For crates that come without the text of their licence.
const MIT: &str = include_str!("licences/MIT.txt");
const BSD_3: &str = include_str!("licences/BSD-3-Clause.txt");

/// The texts with the crates that each holds for; `apache` is the text of the Apache License.
pub(super) fn page(crates: &[DistCrate], apache: &str) -> ChoreResult<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let foreign = crates.iter().filter(|package| package.source.is_some());
    for package in foreign.clone() {
        for text in texts_of(package, apache)? {
            texts.entry(text).or_default().push(format!("{} {}", package.name, package.version));
        }
    }
    let mut page = "tofu-oci contains the following crates, under these licences.\n\n".to_owned();
    for package in foreign {
        let licence = package.license.as_deref().unwrap_or("see its text");
        page += &format!("{} {}: {licence}\n", package.name, package.version);
    }
    page += "the public suffix list: MPL-2.0, from https://publicsuffix.org/list/\n";
    let mut blocks: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, names)| (names, text)).collect();
    blocks.sort();
    for (names, text) in blocks {
        page += &format!("\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim_end());
    }
    Ok(page)
}

/// Its own texts, or the one that its licence refers to.
fn texts_of(package: &DistCrate, apache: &str) -> ChoreResult<Vec<String>> {
    let own = package.texts()?;
    if !own.is_empty() {
        return Ok(own.iter().map(|text| text.replace("\r\n", "\n")).collect());
    }
    let licence = package.license.as_deref().unwrap_or_default();
    if licence.contains("Apache-2.0") {
        return Ok(vec![apache.to_owned()]);
    }
    let form = match licence {
        "MIT" => MIT,
        "BSD-3-Clause" => BSD_3,
        _ => return Err(ChoreFailure::new(format!("{} comes without the text of {licence}", package.purl()))),
    };
    let authors = if package.authors.is_empty() {
        format!("the authors of {}", package.name)
    } else {
        package.authors.join(", ")
    };
    Ok(vec![form.replace("AUTHORS", &authors)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_once_for_all_its_crates() {
        let folder = tempfile::tempdir().unwrap();
        let mut crates = super::super::dependencies::tests::sample();
        for package in &mut crates {
            package.lies_in(folder.path());
        }
        let page = page(&crates, "Apache").unwrap();
        assert!(page.contains("a 1.0.0: MIT\nb 1.0.0: MIT\n"), "{page}");
        assert_eq!(page.matches("a 1.0.0, b 1.0.0\n\nMIT License\n\nCopyright (c) Ann\n").count(), 1, "{page}");
        assert!(!page.contains("p 1.0.0"), "our own crates have the licence of the repository");
    }
}

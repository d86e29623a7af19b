//! What a signature said when it counted.

use std::collections::BTreeSet;

use tofu_oci_types::PackageHash;

use super::flaw::Missing;
use crate::Build;

/// What a signature said when it counted, so that it can be compared with another rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedStatement {
    /// What it said about its subject.
    pub predicate_type: String,
    /// How it was built, if the statement counted as provenance; `None` also if an earlier program wrote the pin.
    pub build: Option<Build>,
    /// What it did not name, or `None` if it named provider and version. A list of archives names the provider if its key
    /// spoke for the provider's namespace alone.
    pub missing: Option<Missing>,
    /// The archives that were signed; `None` if it was the index.
    pub zips: Option<BTreeSet<PackageHash>>,
}

/// Adds statements; lists of archives that say the same become one.
pub(crate) fn add_statements(statements: &mut Vec<SignedStatement>, others: &[SignedStatement]) {
    for other in others {
        let same = statements.iter_mut().find(|have| {
            let alike = have.predicate_type == other.predicate_type && have.build == other.build;
            alike && have.missing == other.missing && have.zips.is_some() == other.zips.is_some()
        });
        match same {
            Some(have) => {
                if let (Some(have), Some(other)) = (&mut have.zips, &other.zips) {
                    have.extend(other.iter().cloned());
                }
            }
            None => statements.push(other.clone()),
        }
    }
    statements.sort();
}

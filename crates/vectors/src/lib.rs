//! Tables of cases: inputs, and what was measured or agreed for each.
//!
//! ```text
//! testdata/vectors/FILE            the project's own tables; a clone tests its own bytes
//! $TOFU_OCI_VECTORS/FILE           other tables of the same form; a FILE that is not there is the project's own
//!   { SECTION: [ CASE, .. ], .. }  a file that is one list has the section `cases`
//! ```
//!
//! A failed case fails its test and hides no other case: the message names file, section and case. What the other tables
//! lack, or have beyond what the tests read, is reported on stderr and fails nothing; in the project's own it is a failure.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The variable that names the folder of other tables. A relative path starts at the project's root.
const VARIABLE: &str = "TOFU_OCI_VECTORS";

/// The members that may name a case, the best first.
const NAMES: [&str; 11] =
    ["name", "input", "case", "template", "tag", "label", "pattern", "key", "path", "source", "a"];

/// A table of cases.
#[derive(Debug)]
pub struct Vectors {
    path: PathBuf,
    tables: Tables,
    sections: serde_json::Map<String, Value>,
}

/// Whose tables a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tables {
    Own,
    Other,
}

impl Vectors {
    /// The table that the tests are run with: of the folder that `TOFU_OCI_VECTORS` names, or the project's own.
    #[track_caller]
    pub fn open(file: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let other = std::env::var_os(VARIABLE).map(|folder| root.join(folder));
        Self::find(file, &root.join("testdata/vectors"), other.as_deref())
    }

    /// The project's own table: for snapshots of the messages about its cases.
    #[track_caller]
    pub fn own(file: &str) -> Self {
        Self::find(file, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors"), None)
    }

    #[track_caller]
    fn find(file: &str, own: &Path, other: Option<&Path>) -> Self {
        let Some(folder) = other else { return Self::read(own.join(file), Tables::Own) };
        assert!(folder.is_dir(), "{VARIABLE}: {} is not a folder", folder.display());
        if folder.join(file).exists() {
            return Self::read(folder.join(file), Tables::Other);
        }
        report(&format!("{VARIABLE}: {} has no {file}; the project's own is used", folder.display()));
        Self::read(own.join(file), Tables::Own)
    }

    #[track_caller]
    fn read(path: PathBuf, tables: Tables) -> Self {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let sections = match serde_json::from_slice(&bytes) {
            Ok(Value::Object(sections)) => sections,
            Ok(cases @ Value::Array(_)) => [("cases".to_owned(), cases)].into_iter().collect(),
            Ok(_) => panic!("{}: neither an object nor a list", path.display()),
            Err(error) => panic!("{}: {error}", path.display()),
        };
        Self { path, tables, sections }
    }

    /// Whether it is the project's own table, so that numbers of cases are known.
    pub fn is_own(&self) -> bool {
        self.tables == Tables::Own
    }

    /// The cases of a section; none if another table lacks it.
    #[track_caller]
    pub fn cases(&self, section: &str) -> &[Value] {
        match self.sections.get(section) {
            Some(Value::Array(cases)) if !cases.is_empty() => cases,
            _ => {
                self.report_or_fail(&format!("no cases in the section `{section}`"));
                &[]
            }
        }
    }

    /// A member of the table that is not a list of cases; null if another table lacks it.
    #[track_caller]
    pub fn member(&self, name: &str) -> &Value {
        self.sections.get(name).unwrap_or_else(|| {
            self.report_or_fail(&format!("no `{name}`"));
            &Value::Null
        })
    }

    /// Runs `check` for every case of a section. `check` panics if the case is other than expected.
    ///
    /// # Panics
    /// If cases failed, with the name and the message of each.
    #[track_caller]
    pub fn each(&self, section: &str, check: impl FnMut(&Value)) {
        let failures = self.failures(section, check);
        assert!(failures.is_empty(), "failed cases: {}\n{}", failures.len(), failures.join("\n"));
    }

    /// Reports the sections that no test reads; a failure in the project's own table.
    #[track_caller]
    pub fn known_sections(&self, known: &[&str]) {
        for (name, section) in &self.sections {
            if !section.is_string() && !known.contains(&name.as_str()) {
                self.report_or_fail(&format!("no test reads the section `{name}`"));
            }
        }
    }

    #[track_caller]
    fn failures(&self, section: &str, mut check: impl FnMut(&Value)) -> Vec<String> {
        let cases = self.cases(section).iter().enumerate();
        let failed = cases.filter_map(|(number, case)| {
            let panic = catch_unwind(AssertUnwindSafe(|| check(case))).err()?;
            let what = panic_message(panic.as_ref());
            Some(format!("{}, {section}, case {} ({}): {what}", self.path.display(), number + 1, name(case)))
        });
        failed.collect()
    }

    #[track_caller]
    fn report_or_fail(&self, what: &str) {
        let line = format!("{}: {what}", self.path.display());
        match self.tables {
            Tables::Own => panic!("{line}"),
            Tables::Other => report(&line),
        }
    }
}

/// What a panic said.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

/// A name for a case: what the table calls it, or all of it.
fn name(case: &Value) -> String {
    let named = NAMES.iter().find_map(|name| case[*name].as_str());
    named.map_or_else(|| case.to_string().chars().take(100).collect(), |name| format!("`{name}`"))
}

/// A line that test runners do not hide when the test passes.
fn report(line: &str) {
    // Without stderr there is no reader of the report.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests;

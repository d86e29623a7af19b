//! Configurations of `OpenTofu` that cannot be read.

use tofu_oci_tfconfig::{ConfigProblem, TfConfigError};

use super::Diagnostic;
use crate::invocation;

impl From<TfConfigError> for Diagnostic {
    fn from(error: TfConfigError) -> Self {
        Self::of_configuration(error, ", or name the providers on the command line instead")
    }
}

impl Diagnostic {
    /// The same for verbs that read the configuration whatever providers are named.
    pub(crate) fn of_needed_configuration(error: TfConfigError) -> Self {
        Self::of_configuration(error, "")
    }

    /// `or_else` ends the hints that another way out goes with.
    fn of_configuration(error: TfConfigError, or_else: &str) -> Self {
        let plain = Self::fault(&error);
        match error {
            TfConfigError::NoConfiguration { .. } => {
                let option = if invocation::says("from-config") { "--from-config" } else { "--chdir" };
                plain
                    .hint(format!("name the directory of the configuration: {option} DIR"))
                    .more_hints(invocation::name_a_provider().map(|hint| format!("or {hint}")))
            }
            TfConfigError::Invalid { at, problem } => {
                let name = at.path.file_name().unwrap_or_default().to_string_lossy();
                let plain = match problem {
                    ConfigProblem::InvalidSource { .. } => plain.hint(format!(
                        "write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE, without a scheme such as https://{or_else}"
                    )),
                    _ if plain.hints.is_empty() => plain.hint(format!("correct the file{or_else}")),
                    _ => plain,
                };
                let is_test = name.contains(".tftest.") || name.contains(".tofutest.");
                plain.more_hints(is_test.then_some("or leave out what only tests need: --no-tests"))
            }
            _ => plain,
        }
    }
}

//! Configurations of `OpenTofu` that cannot be read.

use tofu_oci_tfconfig::{ConfigProblem, TfConfigError};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

/// What to do about a state that cannot be read.
const STATE: &str = "let `tofu state pull` or `terraform state pull` write it anew, or move the file away";

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
        let exit = match &error {
            TfConfigError::Io { source, .. } => super::io::io_exit(source),
            _ => Exit::Usage,
        };
        let diagnostic = Self::of(exit, &error).code(error.code());
        match error {
            TfConfigError::NoConfiguration { .. } => {
                let option = if invocation::says("from-config") { "--from-config" } else { "--chdir" };
                let diagnostic = diagnostic.hint(format!("name the directory of the configuration: {option} DIR"));
                invocation::name_a_provider().map(|hint| format!("or {hint}")).iter().fold(diagnostic, Self::hint)
            }
            TfConfigError::InvalidWorkspace { .. } => {
                diagnostic.hint("it comes from TF_WORKSPACE, else from the file `environment` of the data directory")
            }
            TfConfigError::Io { path, source } => diagnostic.io_hint("read", &path, &source),
            TfConfigError::Invalid { at, problem: ConfigProblem::Syntax { .. } }
                if at.path.extension().is_some_and(|extension| extension == "tfstate") =>
            {
                diagnostic.hint(STATE)
            }
            TfConfigError::Invalid { at, problem } => {
                let name = at.path.file_name().unwrap_or_default().to_string_lossy();
                let diagnostic = diagnostic.hint(hint(&problem, or_else));
                if name.contains(".tftest.") || name.contains(".tofutest.") {
                    return diagnostic.hint("or leave out what only tests need: --no-tests");
                }
                diagnostic
            }
            _ => diagnostic,
        }
    }
}

fn hint(problem: &ConfigProblem, or_else: &str) -> String {
    match problem {
        ConfigProblem::ModuleMissing { .. } => "check the module's `source`, or put its folder there",
        ConfigProblem::ModuleLoop { .. } => "remove one of the calls: no program can follow them to an end",
        ConfigProblem::NoFile | ConfigProblem::TooLarge { .. } => {
            "check what put it there, a link in a module that was fetched perhaps; it was not read"
        }
        ConfigProblem::ModulesTooDeep { .. } => "call these modules from one nearer to the root",
        ConfigProblem::TooManyModules { .. } => "look for modules that call each other many times over",
        ConfigProblem::StateVersion { .. } | ConfigProblem::State { .. } => STATE,
        ConfigProblem::SecondRequired { .. } => "move the entries of the second block into the first one",
        ConfigProblem::Misplaced => "write `terraform { required_providers { … } }`",
        ConfigProblem::InvalidSource { .. } => {
            return format!("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE, without a scheme such as https://{or_else}");
        }
        _ => return format!("correct the file{or_else}"),
    }
    .to_owned()
}

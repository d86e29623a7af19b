//! Credentials and logins: what is wrong with them, and what to do about it.

use tofu_oci_credentials::CredentialOrigin;
use tofu_oci_logins::{
    CredentialRefusal, CredentialReport, HelperFault, ListedFileFault, LoginFileError, RegistryName, RegistryNameError,
    Remedy, StoreLoginError, UsernameError,
};
use tofu_oci_mapper::config::{CliConfigProblem, CliConfigReading};
use tofu_oci_remote::CredentialFault;
use tofu_oci_types::printable;

use super::{Diagnostic, Plain};
use crate::exit::Exit;
use crate::invocation;

impl From<&CredentialRefusal> for Diagnostic {
    fn from(refusal: &CredentialRefusal) -> Self {
        match refusal {
            CredentialRefusal::Configuration { reading, problem, more } => Self::configuration(reading, problem, *more)
                .hint("OpenTofu goes on, and may show other credentials than were meant, or none")
                .hint("with --anonymous, or with --username and --password-stdin, nothing of this is read"),
            CredentialRefusal::ListedFile { name, fault, place, expanded } => {
                let text = match fault {
                    ListedFileFault::Unnamed => "docker_style_config_files has an empty name in it".to_owned(),
                    ListedFileFault::Missing => format!("docker_style_config_files names {name}, which is not there"),
                    ListedFileFault::Unreadable { reason } => {
                        format!("docker_style_config_files names {name}, which cannot be read: {reason}")
                    }
                    ListedFileFault::TooLarge { limit } => {
                        format!("docker_style_config_files names {name}, which is larger than {} MiB", limit >> 20)
                    }
                    ListedFileFault::Malformed(error) => {
                        format!("docker_style_config_files names an invalid file: {error}")
                    }
                    ListedFileFault::InvalidEntry(warning) => {
                        format!("docker_style_config_files names a file with a fault in it: {warning}")
                    }
                };
                let diagnostic = Self::usage(text).code(refusal.code()).cause(format!("it is written in {place}"));
                match expanded {
                    Some(path) => diagnostic.hint(format!("~ is not expanded there: write {}", path.display())),
                    None => diagnostic.hint(
                        "correct the file, or take it out of the list; relative names count from the folder of the CLI \
                         configuration",
                    ),
                }
            }
        }
    }
}

impl Diagnostic {
    /// A problem of the CLI configuration that ends the verb. `more` is the number of other errors.
    pub(crate) fn configuration(reading: &CliConfigReading, problem: &CliConfigProblem, more: usize) -> Self {
        let text = format!("{} ({})", printable(&problem.message), problem.code);
        let excerpt = crate::excerpt::of_problem(reading, problem);
        let diagnostic = Self::new(Exit::Usage, text).excerpt(excerpt).code(&problem.code);
        match more {
            0 => diagnostic,
            1 => diagnostic.hint("there is one more error in the CLI configuration"),
            _ => diagnostic.hint(format!("there are {more} more errors in the CLI configuration")),
        }
        .hint(format!("`{}` says what each OpenTofu makes of these files", invocation::command("config check")))
    }

    /// The same with where the credentials came from, and what to do about it.
    pub(super) fn with_credentials(mut self, report: &CredentialReport) -> Self {
        self.causes.extend(report.cause.as_ref().map(ToString::to_string));
        self.hints.splice(0..0, report.remedies.iter().map(remedy_text));
        self
    }

    /// A helper that failed for the login of a file.
    pub(crate) fn helper(fault: HelperFault, file: &str) -> Self {
        let named = format!("the helper is named in {file}");
        Self::new(Exit::Fixable, fault.problem).code(fault.code).cause(named).hint(fault.hint)
    }

    pub(crate) fn not_stored(error: StoreLoginError, file: &str) -> Self {
        match error {
            StoreLoginError::File(error) => Self::from(error),
            StoreLoginError::Helper(fault) => Self::helper(fault, file).hint("nothing was stored"),
            StoreLoginError::Mark { error, program } => {
                Self::from(error).hint(format!("{program} has the login all the same; run the same command again"))
            }
        }
    }
}

impl Plain for UsernameError {}
impl From<&CredentialFault> for Diagnostic {
    fn from(fault: &CredentialFault) -> Self {
        Self::new(Exit::Fixable, fault.problem.as_str()).code(fault.code.as_str()).more_hints(&fault.hint)
    }
}

impl Plain for RegistryNameError {}
impl Plain for LoginFileError {}
/// What to do, as a hint.
pub(crate) fn remedy_text(remedy: &Remedy) -> String {
    match remedy {
        Remedy::CheckGivenLogin if !invocation::says("password-stdin") => "check the name and the password".to_owned(),
        remedy => remedy.to_string(),
    }
}

/// What to do about a source that prevents the use of a login.
pub(crate) fn source_remedy(origin: Option<&CredentialOrigin>, registry: &RegistryName) -> String {
    match origin {
        Some(CredentialOrigin::Auth { place, .. }) => {
            format!("remove it with `tofu-oci logout {registry} --auth-file {}`, or log in there", place.file)
        }
        Some(CredentialOrigin::Block { place, .. } | CredentialOrigin::DefaultHelper { place, .. }) => {
            format!("it stands in the CLI configuration, {place}, which is yours to edit")
        }
        Some(origin @ (CredentialOrigin::CredHelper { .. } | CredentialOrigin::CredsStore { .. })) => {
            format!("erase it with the helper, or take the helper's name out of {}", origin.place())
        }
        None => format!("`tofu-oci auth explain {registry}/REPOSITORY` shows every source"),
    }
}

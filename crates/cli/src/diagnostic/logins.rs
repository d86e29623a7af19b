//! Credentials and logins: what is wrong with them, and what to do about it.

use tofu_oci_credentials::CredentialOrigin;
use tofu_oci_logins::{
    CredentialCause, CredentialRefusal, CredentialReport, EntryFault, FileOutcome, HelperFault, ListedFileFault,
    LoginCommand, LoginFileError, RegistryName, RegistryNameError, Remedy, Repetition, StoreLoginError, UsernameError,
};
use tofu_oci_mapper::config::{CliConfigProblem, CliConfigReading};
use tofu_oci_remote::CredentialFault;
use tofu_oci_types::printable;

use super::Diagnostic;
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
        self.causes.extend(report.cause.as_ref().map(cause_text));
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

impl From<UsernameError> for Diagnostic {
    fn from(error: UsernameError) -> Self {
        Self::fault(&error)
    }
}

impl From<&CredentialFault> for Diagnostic {
    fn from(fault: &CredentialFault) -> Self {
        let diagnostic = Self::new(Exit::Fixable, fault.problem.as_str()).code(fault.code.as_str());
        fault.hint.iter().fold(diagnostic, Self::hint)
    }
}

impl From<RegistryNameError> for Diagnostic {
    fn from(error: RegistryNameError) -> Self {
        Self::fault(&error)
    }
}

impl From<LoginFileError> for Diagnostic {
    fn from(error: LoginFileError) -> Self {
        Self::fault(&error)
    }
}

/// Where the credentials came from.
fn cause_text(cause: &CredentialCause) -> String {
    match cause {
        CredentialCause::Anonymous => "no credentials were shown, as --anonymous says".to_owned(),
        CredentialCause::Given { username } => format!("the credentials were those of --username {username}"),
        CredentialCause::GivenElsewhere { registry } => {
            format!("no credentials were shown: those of --username are for {registry} alone")
        }
        CredentialCause::SearchOff => {
            "there are no credentials for it: the CLI configuration has the files left out".to_owned()
        }
        CredentialCause::NoFiles => "there are no credentials for it, and no file to look in".to_owned(),
        CredentialCause::LookedIn(files) => {
            let text = |(name, outcome): &(String, FileOutcome)| {
                let what = match outcome {
                    FileOutcome::Missing => "not there",
                    FileOutcome::Unreadable => "cannot be read",
                    FileOutcome::Malformed => "cannot be understood",
                    FileOutcome::LeftOut => "an entry that does not count",
                    FileOutcome::NoEntry => "nothing for it",
                };
                format!("{name} ({what})")
            };
            let files: Vec<String> = files.iter().map(text).collect();
            format!("there are no credentials for it: looked in {}", files.join(", "))
        }
        CredentialCause::Source(origin) => format!("the credentials are those of {origin}"),
        CredentialCause::HelperNotAsked(origin) => format!("{origin} names a helper, which was not asked"),
        CredentialCause::Helper { username: Some(username), program, origin } => {
            format!("the credentials, of {username}, came from {program}, named by {origin}")
        }
        CredentialCause::Helper { username: None, program, origin } => {
            format!("the credentials, an identity token, came from {program}, named by {origin}")
        }
        CredentialCause::HelperHasNone { program, origin, servers } => {
            format!("{program}, named by {origin}, knows no credentials for {}", servers.join(" and "))
        }
    }
}

/// What to do, as a hint.
pub(crate) fn remedy_text(remedy: &Remedy) -> String {
    match remedy {
        Remedy::OmitAnonymous => "leave --anonymous out, so that the user's credentials are shown".to_owned(),
        Remedy::CheckGivenLogin if !invocation::says("password-stdin") => "check the name and the password".to_owned(),
        Remedy::CheckGivenLogin => "check the name, and what --password-stdin was given".to_owned(),
        Remedy::FixEntry { origin, fault, more } => {
            let text = match fault {
                EntryFault::NearMiss(near) => format!("{origin} does not serve: {near}"),
                EntryFault::Invalid(problem) => format!("{origin} is left out: {problem}"),
            };
            if *more > 0 { format!("{text}; and {more} more") } else { text }
        }
        Remedy::FixFile { file, line, problem } => {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("correct {file}{line}: {problem}; the login may be there")
        }
        Remedy::UnlockFile { file, reason } => {
            format!("correct {file}: it cannot be read, {reason}; the login may be there")
        }
        Remedy::ShrinkFile { file, limit } => {
            format!("make {file} smaller: more than {} MiB are not read; the login may be there", limit >> 20)
        }
        Remedy::Overlooked(overlooked) => format!("{}: {overlooked}", overlooked.name),
        Remedy::WriteBlock { place, registry } => format!(
            "discover_ambient_credentials = false in {place} has no other file read, so that a login there has no \
             effect: write a block oci_credentials \"{registry}\", or take that line out"
        ),
        Remedy::UseListedFile { place, login } => format!(
            "docker_style_config_files in {place} lists all files that are read, so that a login elsewhere has no \
             effect: {}",
            login.as_ref().map_or_else(|| "add a file to it".to_owned(), login_text)
        ),
        Remedy::LogIn(login) => login_text(login),
        Remedy::LogInToHelper { login, program } => format!("{}: {program} keeps it", login_text(login)),
        Remedy::ChangeBlockHelper { program, servers, place } => format!(
            "give {program} another login for {}, or change the block in {place}: `tofu-oci login` does neither",
            servers.join(" or ")
        ),
        Remedy::ChangeBlock(place) => {
            format!("change the block in {place}: it counts more than what `tofu-oci login` writes")
        }
        Remedy::ChangeEntry(origin) => format!(
            "change or remove {origin}: `tofu-oci login` writes the registry's own entry, and this one is more specific"
        ),
        Remedy::ReplaceEntry { origin, login } => {
            format!("remove {origin}, which counts more than a new one, and {}", login_text(login))
        }
        Remedy::ChangeEntryHelper { origin, program } => format!(
            "give {program} another login, or change {origin}: it is more specific than what `tofu-oci login` writes"
        ),
        Remedy::ChangeDefaultHelper { program, server, login } => {
            format!("give {program} another login for https://{server}, or {}", login_text(login))
        }
    }
}

fn login_text(login: &LoginCommand) -> String {
    let verb = match login.again {
        Repetition::First => "log in",
        Repetition::Again => "log in again",
    };
    // A name that a shell would change is not repeated.
    let is_plain = |name: &&str| name.chars().all(|one| one.is_ascii_alphanumeric() || "._-@+".contains(one));
    let user = login.username.as_deref().filter(is_plain).filter(|name| !name.is_empty()).unwrap_or("USER");
    let file = login.file.as_ref().map(|file| format!(" --auth-file {file}")).unwrap_or_default();
    format!("{verb} with `tofu-oci login {} --username {user}{file}`", login.registry)
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

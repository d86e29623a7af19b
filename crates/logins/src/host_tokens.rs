//! Which token a host gets that is no OCI registry: origin registries and network mirrors.
//!
//! ```text
//! TF_TOKEN_HOST          what it holds
//! credentials "HOST"     of the CLI configuration and of credentials.tfrc.json, which `tofu login` writes
//! credentials_helper     what its program answers
//! ```
//!
//! The first that speaks of a host decides, also if it holds no token. `HOST` and `HOST:8443` are two hosts.
//!
//! Spec: `OpenTofu` 1.12, cliconfig `CredentialsSource`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use tofu_oci_credentials::{FilePlace, HelperOutput};
use tofu_oci_http::{HostTokenError, HostTokens, bearer};
use tofu_oci_mapper::config::{CliConfigReading, ConfigFiles, ConfigSetting, Environment, RawBlock, helper_program};
use tofu_oci_types::{Event, Hostname, Platform, Reporter, Secret, TextPosition};
use tokio::sync::OnceCell;

use crate::machine::{HostMachine, RunError};
use crate::path_names::PathNames;

/// What this run may show to hosts. A helper is asked once a run for each host.
pub struct HostTokenResolver {
    machine: Arc<dyn HostMachine>,
    reporter: Arc<dyn Reporter>,
    written: BTreeMap<Hostname, WrittenToken>,
    helper: Option<TokenHelper>,
    answers: Mutex<HashMap<Hostname, PendingToken>>,
}

/// Where the token of a host comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostTokenOrigin {
    Variable(String),
    /// A `credentials` block.
    Block(FilePlace),
    /// A `credentials_helper` block.
    Helper {
        /// The name of the program.
        program: String,
        place: FilePlace,
    },
}

struct WrittenToken {
    token: Option<Secret>,
    origin: HostTokenOrigin,
}

struct TokenHelper {
    name: String,
    arguments: Vec<String>,
    place: FilePlace,
    program: Result<PathBuf, MissingProgram>,
}

/// A program that is not there; it is reported when it is first needed.
struct MissingProgram {
    problem: String,
    reported: Once,
}

type HostTokenAnswer = Result<Option<Secret>, HostTokenError>;

/// The token of a host; a second asker waits for the first.
type PendingToken = Arc<OnceCell<HostTokenAnswer>>;

impl HostTokenResolver {
    /// Takes the variables and blocks. No program is run yet.
    pub fn new(
        machine: Arc<dyn HostMachine>,
        environment: &Environment,
        files: &dyn ConfigFiles,
        reading: &CliConfigReading,
        reporter: Arc<dyn Reporter>,
    ) -> Self {
        let names = PathNames::new(environment);
        let config = &reading.config;
        let mut written = BTreeMap::new();
        for block in &config.credentials {
            let Some(host) = block.label.as_ref().and_then(|label| label.parse::<Hostname>().ok()) else { continue };
            let token = block.attribute("token").and_then(|attribute| attribute.value.as_text());
            let origin = HostTokenOrigin::Block(place(reading, block, &names));
            written.insert(host, WrittenToken { token: secret(token), origin });
        }
        for variable in &config.tokens {
            let origin = HostTokenOrigin::Variable(variable.variable.clone());
            written
                .insert(variable.host.clone(), WrittenToken { token: secret(Some(variable.token.expose())), origin });
        }
        let helper = config.credentials_helper.as_ref().and_then(|block| {
            let name = block.label.clone()?;
            let program = helper_program(&name, environment, files, &Platform::current())
                .map_err(|error| MissingProgram { problem: error.to_string(), reported: Once::new() });
            Some(TokenHelper { name, arguments: arguments(block), place: place(reading, block, &names), program })
        });
        Self { machine, reporter, written, helper, answers: Mutex::default() }
    }

    /// What decides about the token of a host; `None` if nothing speaks of it.
    pub fn origin(&self, host: &Hostname) -> Option<HostTokenOrigin> {
        let helper = || {
            let helper = self.helper.as_ref()?;
            Some(HostTokenOrigin::Helper { program: helper.program_name(), place: helper.place.clone() })
        };
        self.written.get(host).map(|written| written.origin.clone()).or_else(helper)
    }

    async fn find(&self, host: &Hostname) -> HostTokenAnswer {
        let token = match (self.written.get(host), &self.helper) {
            (Some(written), _) => written.token.clone(),
            (None, Some(helper)) => self.ask(helper, host).await?,
            (None, None) => None,
        };
        let Some(origin) = self.origin(host) else { return Ok(None) };
        tracing::info!(host = %host.display(), %origin, is_token = token.is_some(), "token");
        if token.as_ref().is_some_and(|token| bearer(token).is_none()) {
            return Err(HostTokenError {
                host: host.clone(),
                code: "token-unusable",
                problem: format!("that of {origin} has characters that no header can carry"),
                hint: "a token is one line of printable characters; look for a line break at its end".to_owned(),
            });
        }
        Ok(token)
    }

    async fn ask(&self, helper: &TokenHelper, host: &Hostname) -> HostTokenAnswer {
        let program = match &helper.program {
            Ok(program) => program,
            Err(missing) => {
                let place = &helper.place;
                let warning =
                    Event::warning("helper-not-found", format!("{}; it is named by {place}", missing.problem))
                        .with_hint(format!(
                            "install the helper in ~/.terraform.d/plugins, or remove the block in {place}"
                        ));
                missing.reported.call_once(|| self.reporter.event(&warning));
                return Ok(None);
            }
        };
        let arguments: Vec<String> =
            helper.arguments.iter().map(String::as_str).chain(["get", host.as_str()]).map(str::to_owned).collect();
        let failed = |problem: String| HostTokenError {
            host: host.clone(),
            code: "helper-failed",
            problem: format!("{problem}; it is named by {}", helper.place),
            hint: format!(
                "run the helper by hand to see what is wrong with it: {} ARGS get {host}, with the args of {}",
                program.display(),
                helper.place
            ),
        };
        let run = self.machine.run_token_helper(program, &arguments).await;
        let output = run.map_err(|error| match error {
            RunError::NotExecutable { ref path } => {
                let hint = format!("make it executable: chmod +x {}", path.display());
                HostTokenError { hint, ..failed(error.to_string()) }
            }
            error => failed(error.to_string()),
        })?;
        answer(&output).map_err(|problem| failed(format!("{} {problem}", helper.program_name())))
    }
}

#[async_trait]
impl HostTokens for HostTokenResolver {
    async fn token(&self, host: &Hostname) -> HostTokenAnswer {
        let cell = {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(answers.entry(host.clone()).or_default())
        };
        cell.get_or_init(|| self.find(host)).await.clone()
    }
}

impl TokenHelper {
    fn program_name(&self) -> String {
        format!("terraform-credentials-{}", self.name)
    }
}

impl fmt::Display for HostTokenOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::Block(place) => write!(f, "the credentials block in {place}"),
            Self::Helper { program, place } => write!(f, "the helper {program} of {place}"),
        }
    }
}

/// The token in a helper's answer. The error never quotes it.
fn answer(output: &HelperOutput) -> Result<Option<Secret>, String> {
    match output.exit {
        Some(0) => {}
        Some(code) => return Err(format!("ended with exit code {code}")),
        None => return Err("was ended by a signal".to_owned()),
    }
    match serde_json::from_slice(&output.stdout) {
        Ok(Value::Null) => Ok(None),
        Ok(Value::Object(members)) => match members.get("token") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(token)) => Ok(secret(Some(token))),
            Some(_) => Err("answered with a token that is not a string".to_owned()),
        },
        Ok(_) => Err("answered with something other than a JSON object".to_owned()),
        Err(_) => Err("answered with something other than JSON".to_owned()),
    }
}

/// An empty token is no token.
fn secret(token: Option<&str>) -> Option<Secret> {
    token.filter(|token| !token.is_empty()).map(Secret::new)
}

fn arguments(block: &RawBlock) -> Vec<String> {
    match block.attribute("args").map(|attribute| &attribute.value) {
        Some(ConfigSetting::List(items)) => {
            items.iter().filter_map(ConfigSetting::as_text).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn place(reading: &CliConfigReading, block: &RawBlock, names: &PathNames) -> FilePlace {
    let Some(file) = reading.files.get(block.file) else { return FilePlace { file: String::new(), line: None } };
    let line = TextPosition::of(&file.text, block.span.start).line;
    FilePlace { file: names.name(&file.path), line: Some(line) }
}

#[cfg(test)]
mod tests;

//! A real registry on a free loopback port, in a temp folder, killed on drop: registry:2 (Debian's `docker-registry`)
//! unless [`RealMode::program`] says otherwise.

mod program;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use tempfile::TempDir;

use crate::certificates::{Certificates, ClientCertificate};
use crate::fault::RuleList;
use crate::log::{Log, LoggedRequest};
use crate::registry::content::RegistryContent;
use crate::registry::endpoint::{Endpoint, Role};
use crate::registry::server::{ServerThread, bind};
use crate::registry::{Auth, AuthState, Bearer, Behaviour, Login, SERVICE};
use crate::signer::TokenSigner;
pub use program::RealProgram;

/// HTTP or HTTPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealTransport {
    /// Plain HTTP.
    Plain,
    /// TLS with a new private authority ([`RealRegistry::ca_pem`]); the token endpoint too.
    Tls,
}

/// What may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Pushing, but no deleting (the default of registry:2).
    Push,
    /// Pushing and deleting.
    PushAndDelete,
    /// Nothing (maintenance mode).
    Nothing,
}

/// How a real registry is to run.
#[derive(Clone, Debug)]
pub struct RealMode {
    /// HTTP or HTTPS.
    pub transport: RealTransport,
    /// `Auth::Basic` becomes an htpasswd file, `Auth::Bearer` a token server in this process that signs with ES256.
    /// The token server always has its own port; of the addresses only `OwnListenerByName` has an effect.
    pub auth: Auth,
    /// What may be written.
    pub writes: Writes,
    /// Where it keeps its content; `None` for its own temp folder.
    pub data: Option<PathBuf>,
    /// Which registry it is. zot supports only plain HTTP without credentials here.
    pub program: RealProgram,
}

impl RealMode {
    /// Plain HTTP, no credentials, pushing allowed.
    pub fn plain() -> Self {
        Self {
            transport: RealTransport::Plain,
            auth: Auth::None,
            writes: Writes::Push,
            data: None,
            program: RealProgram::Registry2,
        }
    }

    /// TLS, no credentials.
    pub fn tls() -> Self {
        Self { transport: RealTransport::Tls, ..Self::plain() }
    }

    /// The same for another registry program.
    pub fn of(program: RealProgram) -> Self {
        Self { program, ..Self::plain() }
    }

    /// Plain HTTP with a bcrypt htpasswd file; needs the program `htpasswd`.
    pub fn htpasswd(login: Login) -> Self {
        Self { auth: Auth::Basic(login), ..Self::plain() }
    }

    /// Plain HTTP with token authentication.
    pub fn token(bearer: Bearer) -> Self {
        Self { auth: Auth::Bearer(bearer), ..Self::plain() }
    }

    /// Plain HTTP, read-only, over content that another instance has left.
    pub fn read_only(data: &Path) -> Self {
        Self { writes: Writes::Nothing, data: Some(data.to_owned()), ..Self::plain() }
    }

    /// Plain HTTP with deletion.
    pub fn deletable() -> Self {
        Self { writes: Writes::PushAndDelete, ..Self::plain() }
    }
}

/// A running registry.
#[derive(Debug)]
pub struct RealRegistry {
    child: Mutex<Child>,
    program: PathBuf,
    configuration: PathBuf,
    address: String,
    scheme: &'static str,
    certificates: Option<Certificates>,
    tokens: Option<(Arc<Endpoint>, ServerThread)>,
    output: Arc<Mutex<String>>,
    data: PathBuf,
    _folder: TempDir,
}

impl RealRegistry {
    /// Whether registry:2 is installed.
    pub fn available() -> bool {
        RealProgram::Registry2.available()
    }

    /// Starts it and waits until it accepts connections.
    ///
    /// # Errors
    /// The program (or `htpasswd`, where needed) is missing, or it ended before it listened; the text has its output.
    pub fn start(mode: RealMode) -> io::Result<Self> {
        let program = mode.program.path();
        let names = mode.program.names().join(" and no ");
        let program = program.ok_or_else(|| io::Error::other(format!("no {names} on the PATH")))?;
        if mode.program == RealProgram::Zot && (mode.transport != RealTransport::Plain || mode.auth != Auth::None) {
            return Err(io::Error::other("zot is started without TLS and without access control"));
        }
        let folder = tempfile::tempdir()?;
        let data = mode.data.unwrap_or_else(|| folder.path().join("data"));
        let mut config = RegistryConfig::new(&data, mode.writes);
        let certificates = (mode.transport == RealTransport::Tls).then(Certificates::generate);
        let scheme = if certificates.is_some() { "https" } else { "http" };
        if let Some(certificates) = &certificates {
            let server = keep(folder.path(), "server.pem", certificates.server_pem())?;
            let key = keep(folder.path(), "server.key", certificates.server_key_pem())?;
            config.http.push(format!("  tls: {{certificate: '{}', key: '{}'}}", server.display(), key.display()));
        }
        let tokens = match mode.auth {
            Auth::None => None,
            Auth::Basic(login) => {
                let file = keep(folder.path(), "htpasswd", &htpasswd_line(&login)?)?;
                config.auth = format!("auth:\n  htpasswd: {{realm: test, path: '{}'}}\n", file.display());
                None
            }
            Auth::Bearer(bearer) => {
                let (endpoint, server, certificate) = start_tokens(bearer, scheme, certificates.as_ref());
                let bundle = keep(folder.path(), "token.pem", &certificate)?;
                config.auth = format!(
                    "auth:\n  token: {{realm: '{}/token', service: {SERVICE}, issuer: {}, rootcertbundle: '{}'}}\n",
                    endpoint.origin,
                    crate::signer::ISSUER,
                    bundle.display()
                );
                Some((endpoint, server))
            }
        };
        let file = match mode.program {
            RealProgram::Zot => keep(folder.path(), "config.json", &program::zot_config(&data))?,
            RealProgram::Registry2 | RealProgram::Distribution3 => keep(folder.path(), "config.yml", &config.text())?,
        };

        let output = Arc::new(Mutex::new(String::new()));
        let (child, address) = spawn(&program, &file, None, &output)?;
        let child = Mutex::new(child);
        Ok(Self {
            child,
            program,
            configuration: file,
            address,
            scheme,
            certificates,
            tokens,
            output,
            data,
            _folder: folder,
        })
    }

    /// Ends it; its address and its content stay.
    pub fn stop(&self) {
        end(&mut self.child.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Starts registry:2 again after [`RealRegistry::stop`], on the same address and with the same content.
    ///
    /// # Errors
    /// It ended before it listened, for example because another program has taken the port.
    pub fn start_again(&self) -> io::Result<()> {
        let (child, _) = spawn(&self.program, &self.configuration, Some(&self.address), &self.output)?;
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = child;
        Ok(())
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// `http://127.0.0.1:PORT` or `https://…`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// The authority to trust; `None` if it speaks plain HTTP.
    pub fn ca_pem(&self) -> Option<&str> {
        self.certificates.as_ref().map(Certificates::ca_pem)
    }

    /// Its certificates, for another server that is to be trusted by the same authority; `None` for plain HTTP.
    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    /// Where it keeps its content.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The requests to the token server; empty in other modes.
    pub fn token_requests(&self) -> Vec<LoggedRequest> {
        self.tokens.as_ref().map(|(endpoint, _)| endpoint.log.requests()).unwrap_or_default()
    }

    /// What it has written to its log so far: JSON lines, the access log among them.
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for RealRegistry {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts the program and waits until it listens: the process and its `127.0.0.1:PORT`, a new one unless `at` names one.
fn spawn(
    program: &Path,
    configuration: &Path,
    at: Option<&str>,
    output: &Arc<Mutex<String>>,
) -> io::Result<(Child, String)> {
    let mut command = Command::new(program);
    command.arg("serve").arg(configuration).env_clear().env("OTEL_TRACES_EXPORTER", "none");
    if let Some(address) = at {
        command.env("REGISTRY_HTTP_ADDR", address);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (found, listening) = mpsc::channel();
    watch(child.stderr.take().expect("standard error was asked for"), Arc::clone(output), found.clone());
    watch(child.stdout.take().expect("standard output was asked for"), Arc::clone(output), found);
    let Ok(address) = listening.recv_timeout(Duration::from_secs(30)) else {
        end(&mut child);
        let output = output.lock().unwrap_or_else(PoisonError::into_inner);
        return Err(io::Error::other(format!("the registry did not start:\n{output}")));
    };
    Ok((child, address))
}

fn end(child: &mut Child) {
    // Both fail only when the process has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

fn keep(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

fn htpasswd_line(login: &Login) -> io::Result<String> {
    let output = Command::new("htpasswd").args(["-Bbn", &login.username, &login.password]).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("htpasswd: {}", String::from_utf8_lossy(&output.stderr))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn start_tokens(bearer: Bearer, scheme: &str, tls: Option<&Certificates>) -> (Arc<Endpoint>, ServerThread, String) {
    let (socket, address) = bind();
    let origin = bearer.address.origin(scheme, address);
    let signer = TokenSigner::generate();
    let certificate = signer.certificate_pem();
    let endpoint = Arc::new(Endpoint {
        role: Role::Token,
        origin: origin.clone(),
        content: RegistryContent::default(),
        behaviour: Arc::new(Mutex::new(Behaviour::default())),
        auth: Arc::new(AuthState::new(Auth::Bearer(bearer), format!("{origin}/token")).signing(signer)),
        log: Log::default(),
        rules: RuleList::default(),
    });
    let tls = tls.map(|certificates| certificates.server_config(ClientCertificate::NotAsked));
    let server = ServerThread::start(vec![(socket, Arc::clone(&endpoint))], tls.as_ref());
    (endpoint, server, certificate)
}

/// Collects a part of the log and sends on the address that it names once the registry listens.
fn watch(log: impl Read + Send + 'static, output: Arc<Mutex<String>>, found: mpsc::Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            if let Some(address) = program::listening(&line) {
                // Nobody listens any more when starting has been given up.
                let _ = found.send(address);
            }
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.push_str(&line);
            output.push('\n');
        }
    });
}

/// The configuration file, in parts.
struct RegistryConfig {
    storage: String,
    http: Vec<String>,
    auth: String,
}

impl RegistryConfig {
    fn new(data: &Path, writes: Writes) -> Self {
        let storage = format!(
            "storage:\n  filesystem: {{rootdirectory: '{}'}}\n  delete: {{enabled: {}}}\n  maintenance:\n    \
             uploadpurging: {{enabled: false}}\n    readonly: {{enabled: {}}}\n",
            data.display(),
            writes == Writes::PushAndDelete,
            writes == Writes::Nothing
        );
        let http = vec!["http:".to_owned(), "  addr: 127.0.0.1:0".to_owned(), "  secret: testkit".to_owned()];
        Self { storage, http, auth: String::new() }
    }

    fn text(&self) -> String {
        let log = "version: 0.1\nlog: {level: info, formatter: json}\n";
        format!("{log}{}{}\n{}", self.storage, self.http.join("\n"), self.auth)
    }
}

//! The files of a TUF repository: in a folder, or of a web server.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tofu_oci_http::{WebClient, WebRequest};
use tofu_oci_remote::NoCredentials;
use tofu_oci_trust::WantedFile;
use url::Url;

use crate::args::TrustRootUpdateArgs;
use crate::connect;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::verbs::context::Context;

/// Where metadata lie: at the top, as a web server has them, or in the folder that the git repository has.
const FOLDERS: [&str; 2] = ["", "metadata/"];

/// The time of one request.
const TIME: Duration = Duration::from_secs(30);

pub(super) enum TufFiles {
    Folder(PathBuf),
    Web { base: Url, client: WebClient },
}

impl TufFiles {
    /// Asks for nothing yet.
    pub(super) fn open(context: &Context, args: &TrustRootUpdateArgs) -> Result<Self, Diagnostic> {
        let Some((scheme, _)) = args.from.split_once("://") else { return folder(&args.from).map(Self::Folder) };
        let with_slash = format!("{}/", args.from.trim_end_matches('/'));
        let base = Url::parse(&with_slash).ok().filter(|url| url.query().is_none() && url.fragment().is_none());
        let client = connect::client(&args.access.network, Arc::new(NoCredentials), None, &context.reporter)?;
        let is_plain = |base: &Url| scheme == "http" && client.http().plain_hosts().contain(base);
        match base.filter(|base| scheme == "https" || is_plain(base)) {
            Some(base) => Ok(Self::Web { base, client: WebClient::new(Arc::clone(client.http())) }),
            None => Err(Diagnostic::usage("the repository is neither a folder nor an https:// address")
                .hint("such as https://tuf-repo-cdn.sigstore.dev, or the folder of a copy")),
        }
    }

    /// A file that must be there.
    pub(super) async fn demand(&self, wanted: &WantedFile) -> Result<Vec<u8>, Diagnostic> {
        let missing = || {
            let name = wanted.names.first().map(String::as_str).unwrap_or_default();
            Diagnostic::new(Exit::Fixable, format!("{} has no {name}", self.place()))
                .code("trust-root-not-proven")
                .hint("a TUF repository has timestamp.json, VERSION.snapshot.json, VERSION.targets.json and targets/")
        };
        self.read(wanted).await?.ok_or_else(missing)
    }

    /// A file; `None` if the repository does not have it under any of its names. One byte more than wanted is read, so that one
    /// that is too large is seen.
    pub(super) async fn read(&self, wanted: &WantedFile) -> Result<Option<Vec<u8>>, Diagnostic> {
        for folder in FOLDERS {
            for name in &wanted.names {
                let name = format!("{folder}{name}");
                if let Some(found) = self.read_one(&name, wanted.limit).await? {
                    return Ok(Some(found));
                }
            }
            // A web server has one layout.
            if matches!(self, Self::Web { .. }) {
                break;
            }
        }
        Ok(None)
    }

    async fn read_one(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                match tofu_oci_disk::read_file(&path, limit) {
                    Ok(bytes) => Ok(Some(bytes)),
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
                    Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                        let text = format!(
                            "{} does not prove a trusted root: {} is larger than {limit} bytes",
                            self.place(),
                            path.display()
                        );
                        Err(Diagnostic::new(Exit::Fixable, text)
                            .code("trust-root-not-proven")
                            .hint("nothing was written; take a newer copy of the repository"))
                    }
                    Err(error) => Err(Diagnostic::usage(format!("the file {} cannot be read", path.display()))
                        .cause(error.to_string())
                        .io_hint("read", &path, &error)),
                }
            }
            Self::Web { base, client } => {
                let url = base.join(name).expect("a file name is a relative address");
                let request = WebRequest { url, accept: "*/*", token: None, timeout: TIME, limit };
                let answer = client.get(&request, |answer| answer.status() == 200).await;
                let answer = answer.map_err(|error| {
                    let away =
                        "if this machine cannot reach it, copy the repository where one can, and name the folder";
                    Diagnostic::of(Exit::Unexpected, &error).hint(away)
                })?;
                match answer.status() {
                    200 => Ok(Some(answer.body().to_vec())),
                    // What a bucket without the right to list says of what it lacks.
                    403 | 404 => Ok(None),
                    status => {
                        let text = format!("{} answered {status}", self.place());
                        Err(Diagnostic::new(Exit::Unexpected, text).cause(name.to_owned()))
                    }
                }
            }
        }
    }

    fn place(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            Self::Web { base, .. } => base.to_string(),
        }
    }
}

/// The folder of this name, which must be there.
fn folder(name: &str) -> Result<PathBuf, Diagnostic> {
    let path = PathBuf::from(name);
    if path.is_dir() {
        return Ok(path);
    }
    let host = name.split('/').next().unwrap_or_default();
    let is_address = host.contains('.') && !host.starts_with('.') && Url::parse(&format!("https://{name}")).is_ok();
    Err(Diagnostic::usage(format!("there is no folder {name}")).hint(if is_address && !path.exists() {
        format!("did you mean https://{name}")
    } else {
        "name the folder of a copy, or an address such as https://tuf-repo-cdn.sigstore.dev".to_owned()
    }))
}

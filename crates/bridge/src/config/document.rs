//! The members of a `serve.toml`, before they are read.

use std::path::PathBuf;

use serde::Deserialize;
use toml::{Spanned, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BridgeDocument {
    pub(super) listen: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) listen_metrics: Option<Spanned<String>>,
    pub(super) url: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) hosts: Vec<Spanned<String>>,
    pub(super) hashes: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) signing_key: Option<PathBuf>,
    #[serde(default)]
    pub(super) redirect: bool,
    #[serde(default)]
    pub(super) sealed: bool,
    pub(super) trust: Option<PathBuf>,
    #[serde(default)]
    pub(super) predecessors: Vec<Spanned<String>>,
    pub(super) tls: Option<TlsTable>,
    #[serde(default)]
    pub(super) plain_http: bool,
    #[serde(default)]
    pub(super) proxies: Vec<Spanned<String>>,
    pub(super) access_log: Option<String>,
    pub(super) grace: Option<Spanned<Value>>,
    #[serde(default)]
    pub(super) provider: Vec<Spanned<ServedTable>>,
    #[serde(default)]
    pub(super) module: Vec<Spanned<ServedModuleTable>>,
    #[serde(default)]
    pub(super) client: Vec<Spanned<ClientTable>>,
    #[serde(default)]
    pub(super) links: LinksTable,
    #[serde(default)]
    pub(super) limits: LimitsTable,
    #[serde(default)]
    pub(super) cache: CacheTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsTable {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServedTable {
    pub(super) include: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) exclude: Vec<Spanned<String>>,
    pub(super) from: Spanned<String>,
    pub(super) upstream: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) min_age: Option<Spanned<Value>>,
    pub(super) allow: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) deny: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) attestations: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) rename: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServedModuleTable {
    pub(super) include: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) exclude: Vec<Spanned<String>>,
    pub(super) from: Spanned<String>,
    pub(super) upstream: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) min_age: Option<Spanned<Value>>,
    pub(super) allow: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) deny: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    pub(super) oci_locations: bool,
    #[serde(default)]
    pub(super) rename: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientTable {
    pub(super) name: Spanned<String>,
    pub(super) token_sha256: Spanned<String>,
    pub(super) providers: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) modules: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinksTable {
    pub(super) lifetime: Option<Spanned<Value>>,
    pub(super) secret: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsTable {
    pub(super) connections: Option<Spanned<usize>>,
    pub(super) connections_per_address: Option<Spanned<usize>>,
    pub(super) requests_per_second: Option<Spanned<u32>>,
    pub(super) header_bytes: Option<Spanned<Value>>,
    pub(super) header_timeout: Option<Spanned<Value>>,
    pub(super) idle_timeout: Option<Spanned<Value>>,
    pub(super) write_timeout: Option<Spanned<Value>>,
    pub(super) streams: Option<Spanned<u32>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CacheTable {
    pub(super) dir: Option<PathBuf>,
    pub(super) size: Option<Spanned<Value>>,
    pub(super) metadata: Option<Spanned<Value>>,
    pub(super) all: Option<Spanned<bool>>,
}

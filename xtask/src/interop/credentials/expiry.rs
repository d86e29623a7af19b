//! Tokens that die in the middle of 700 MB, on the way up and on the way down, in little memory.
//!
//! registry:2 looks at the token when a request begins. So the long `PUT` outlives its token, and what follows needs a
//! new one; the download is broken off near its end, and goes on with a request for the rest. If the token server says
//! how long a token lives, the program asks for a new one in time; otherwise the registry's refusal is the sign.

use std::fs;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tofu_oci_testkit::{Bearer, Switch};
use tofu_oci_types::DigestHasher;
use zip::write::SimpleFileOptions;

use super::relay::Relay;
use super::site::{Person, Site, encoded, right};
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::interop::lab::{Lab, seen, text};
use crate::process::ProgramRun;

/// The program in the large package.
const BYTES: u64 = 700_000_000;
/// How long a token lives.
const LIFE: Duration = Duration::from_secs(2);
/// What the program may take up at most.
const MEMORY: u64 = 64 << 20;
const ADDRESS: &str = "registry.example.test/acme/large";
const PLATFORM: &str = "linux_amd64";
const PROGRAM: &str = "terraform-provider-large_v1.0.0";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let folder = lab.new_folder("large")?;
    let digest = make(&folder)?;
    for (name, expires_in) in [("a declared life", Switch::On), ("an undeclared life", Switch::Off)] {
        let bearer = Bearer { ttl: LIFE, expires_in, ..Bearer::new(right()) };
        let site = Site::with_tokens(lab, name, bearer)?;
        let relay = Relay::start(site.address())?;
        let person = site.person()?;
        let login = serde_json::json!({"auths": {relay.address(): {"auth": encoded(&right())}}});
        person.write(".docker/config.json", login.to_string())?;
        let repository = format!("{}/acme/large", relay.address());

        let dist = text(&folder);
        let push = ["push", &dist, &repository, "--address", ADDRESS, "--version", "1.0.0", "--jobs", "1"];
        let up = Transfer::watch(&site, &person, &person.tofu_oci(&push))?;
        up.judge(expires_in)?;
        seen(&format!("tokens of 2 s, {name}, push of 700 MB: {up}"));

        let work = lab.new_folder("large-work")?;
        let directory = text(&work);
        let wanted = format!("{ADDRESS}@1.0.0");
        // Late enough for the first token to be dead: registry:2 counts full seconds.
        relay.break_after(BYTES / 7 * 6);
        let install = ["install", &wanted, "--from", &repository, "--chdir", &directory, "--platform", PLATFORM];
        let down = Transfer::watch(&site, &person, &person.tofu_oci(&install))?;
        down.judge(expires_in)?;
        if !down.requests.iter().any(|request| request.ends_with(" 206")) {
            return Err(ChoreFailure::new(format!("the broken download was not taken up again: {:?}", down.requests)));
        }
        let installed = work.join(".terraform/providers").join(ADDRESS).join("1.0.0").join(PLATFORM).join(PROGRAM);
        if digest_of(&installed)? != digest {
            return Err(ChoreFailure::new("the installed program is not the one that was pushed"));
        }
        fs::remove_dir_all(&work)?;
        seen(&format!("tokens of 2 s, {name}, install of 700 MB, broken off once: {down}"));
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// One run of the program, and what the registry and its token server saw of it.
struct Transfer {
    seconds: f64,
    peak: u64,
    tokens: usize,
    /// `METHOD STATUS` of each accepted request, in the order of their ends.
    requests: Vec<String>,
    /// Requests with a token that the registry no longer accepted.
    expired: usize,
}

impl Transfer {
    fn watch(site: &Site<'_>, person: &Person<'_>, run: &ProgramRun) -> ChoreResult<Self> {
        let (tokens, log) = (site.registry.token_requests().len(), site.registry.log().len());
        let start = Instant::now();
        let (printed, peak) = run.measured()?;
        let seconds = start.elapsed().as_secs_f64();
        if printed.code != Some(0) {
            return Err(printed.failure("a command failed"));
        }
        person.must_keep_secrets(&printed)?;
        let log = site.registry.log().get(log..).unwrap_or_default().to_owned();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let (mut requests, mut expired) = (Vec::new(), 0);
        for line in lines {
            if let (Some(method), Some(status)) =
                (line["http.request.method"].as_str(), line["http.response.status"].as_u64())
            {
                requests.push(format!("{method} {status}"));
            }
            expired += usize::from(line["msg"].as_str().is_some_and(|text| text.contains("invalid token")));
        }
        Ok(Self { seconds, peak, tokens: site.registry.token_requests().len() - tokens, requests, expired })
    }

    /// A failure unless tokens died on the way, new ones were asked for as they should, and memory stayed small.
    fn judge(&self, expires_in: Switch) -> ChoreResult {
        let fault = if self.seconds < 2.0 * LIFE.as_secs_f64() {
            "it was over before its tokens died"
        } else if self.tokens < 2 {
            "one token cannot have been enough"
        } else if expires_in == Switch::On && self.expired > 0 {
            "a token was used although it was known to be dead"
        } else if expires_in == Switch::Off && self.expired == 0 {
            "no token died on the way"
        } else if self.peak > MEMORY {
            "it took up too much memory"
        } else {
            return Ok(());
        };
        Err(ChoreFailure::new(format!("{fault}: {self}; {:?}", self.requests)))
    }
}

impl std::fmt::Display for Transfer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = self.peak as f64 / f64::from(1 << 20);
        let Self { seconds, tokens, expired, .. } = self;
        write!(f, "{seconds:.1} s, {tokens} tokens, {expired} refused as dead, peak {mib:.1} MiB")
    }
}

/// Writes the release: the large package in the middle of small ones. The digest of its program.
fn make(folder: &Path) -> ChoreResult<String> {
    for platform in ["darwin_arm64", "linux_arm64", "windows_amd64"] {
        let mut zip = package(folder, platform)?;
        zip.write_all(platform.as_bytes())?;
        zip.finish()?.flush()?;
    }
    let mut zip = package(folder, PLATFORM)?;
    let mut hasher = DigestHasher::sha256();
    let mut block = random_block();
    for number in 0..BYTES / block.len() as u64 {
        // No block is like another one, and none is made twice.
        block[..8].copy_from_slice(&number.to_le_bytes());
        hasher.update(&block);
        zip.write_all(&block)?;
    }
    zip.finish()?.flush()?;
    Ok(hasher.finish().to_string())
}

/// A package whose program is about to be written; it is stored as it is.
fn package(folder: &Path, platform: &str) -> ChoreResult<zip::ZipWriter<BufWriter<fs::File>>> {
    let path = folder.join(format!("terraform-provider-large_1.0.0_{platform}.zip"));
    let file = fs::File::create(&path).doing(|| format!("writing {}", path.display()))?;
    let mut zip = zip::ZipWriter::new(BufWriter::with_capacity(1 << 20, file));
    let options =
        SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).unix_permissions(0o755);
    zip.start_file(PROGRAM, options)?;
    Ok(zip)
}

/// A million bytes that no compressor makes smaller.
fn random_block() -> Vec<u8> {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut block = Vec::with_capacity(1_000_000);
    while block.len() < 1_000_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        block.extend(random.to_le_bytes());
    }
    block
}

fn digest_of(path: &PathBuf) -> ChoreResult<String> {
    let mut file = fs::File::open(path).doing(|| format!("reading {}", path.display()))?;
    let (mut hasher, mut buffer) = (DigestHasher::sha256(), vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hasher.finish().to_string());
        }
        hasher.update(&buffer[..count]);
    }
}

//! A registry that fetches what it lacks from an [`Upstream`].

use std::collections::BTreeMap;
use std::sync::{Mutex, Weak};
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_http::{HttpClient, HttpOptions, Proxies, WebClient};
use tofu_oci_mapper::{RepositoryTemplate, TemplateRepositories};
use tofu_oci_source::{Chain, RegistryAccess, RegistrySource, SignatureDemands};
use tofu_oci_store::MemoryStore;
use tofu_oci_testkit::{Fault, Gate, ProviderZip, Rule, ScratchOpenPgpKey, Upstream};
use tofu_oci_trust::{Pins, Policy};
use tofu_oci_types::{Digest, Place};

use super::*;
use crate::transfer::tests::{Carried, EventLog, NoWait};
use crate::{Repositories, VersionRule};

const ZAP: &str = "registry.example.test/acme/zap";
const DOWNLOADS: &str = "/v1/providers/acme/zap/1.4.0/download/*";
const ZIPS: &str = "/files/acme/zap/1.4.0/*.zip";

/// A registry before an upstream that has `acme/zap` 1.4.0 for two platforms.
struct Pulling {
    upstream: Upstream,
    carried: Carried,
}

impl Pulling {
    fn new() -> Self {
        let (upstream, carried) = (Upstream::start(), Carried::new());
        upstream.release("acme/zap", "1.4.0", &["linux_amd64", "darwin_arm64"]);
        Self { upstream, carried }
    }

    fn through(&self) -> PullThrough {
        self.through_with(Arc::default(), MirrorRules::default())
    }

    fn through_with(&self, policy: Arc<Policy>, rules: MirrorRules) -> PullThrough {
        self.with(policy, rules, UpstreamUse::Asked)
    }

    fn with(&self, policy: Arc<Policy>, rules: MirrorRules, upstream_use: UpstreamUse) -> PullThrough {
        let reporter: Arc<dyn Reporter> = Arc::new(EventLog::default());
        let options = HttpOptions {
            ca_certificates: vec![self.upstream.ca_pem().as_bytes().to_vec()],
            proxies: Proxies::Direct,
            clock: Arc::new(NoWait),
            ..HttpOptions::default()
        };
        let web = WebClient::new(HttpClient::new(options, Arc::clone(&reporter)).unwrap());
        let base: url::Url = format!("{}/v1/providers/", self.upstream.origin()).parse().unwrap();
        let upstream: OpenUpstream = Arc::new(move || {
            let access = RegistryAccess {
                web: web.clone(),
                tokens: Arc::new(BTreeMap::new()),
                timeout: Duration::from_secs(10),
                demands: SignatureDemands::of_variables(|_| None),
                now: SystemTime::now(),
            };
            Arc::new(RegistrySource::new("registry.example.test".parse().unwrap(), base.clone(), access))
        });
        let pins_path = self.carried.work.path().join("pins");
        let options = PullOptions {
            trust: Trust {
                policy,
                pins: Pins::default(),
                pins_path,
                now: SystemTime::now(),
                renamed: RenamedReleases::Refuse,
            },
            rules,
            attestations: None,
            upstream_use,
            limits: Limits::default(),
            jobs: 2,
            work_dir: self.carried.work.path().to_owned(),
        };
        PullThrough::new(upstream, Arc::new(self.destination()), options, reporter)
    }

    fn destination(&self) -> Repositories {
        let store: Arc<dyn tofu_oci_store::Store> = Arc::new(self.carried.store());
        let template = format!("{}/${{type}}", self.carried.registry.address());
        let template = RepositoryTemplate::check(&template, &[ZAP.to_owned()]).unwrap();
        Repositories::new(TemplateRepositories::Registry(template), Arc::new(move |_| Ok(Arc::clone(&store))))
    }

    /// How often the upstream was asked for such a path.
    fn asked(&self, pattern: &str) -> usize {
        let (start, end) = pattern.split_once('*').unwrap_or((pattern, ""));
        let fits = |path: &str| path.starts_with(start) && path.ends_with(end);
        self.upstream.requests().iter().filter(|request| request.method == "GET" && fits(&request.path)).count()
    }

    /// The `Range` of each request for a package.
    fn ranges(&self) -> Vec<Option<String>> {
        let requests = self.upstream.requests().into_iter();
        let requests = requests.filter(|request| {
            request.method == "GET"
                && request.path.starts_with("/files/acme/zap/1.4.0/terraform-provider-zap_1.4.0_linux_amd64")
        });
        requests.map(|request| request.header("range").map(ToOwned::to_owned)).collect()
    }

    fn tags(&self) -> Vec<String> {
        self.carried.tags()
    }
}

/// The release, or the code of the error.
async fn pulled(through: &PullThrough, version: &str, platform: &str) -> Result<Vec<Platform>, &'static str> {
    let (version, platform) = (version.parse().unwrap(), platform.parse().unwrap());
    let release = through.release(&ZAP.parse().unwrap(), &version, Some(&platform)).await;
    Ok(release.map_err(|error| error.code())?.platforms().await.unwrap())
}

async fn versions(through: &PullThrough) -> Result<Vec<String>, &'static str> {
    let listing = through.versions(&ZAP.parse().unwrap()).await.map_err(|error| error.code())?;
    Ok(listing.versions.iter().map(ToString::to_string).collect())
}

#[tokio::test]
async fn fifty_callers_share_one_fetch() {
    let pulling = Pulling::new();
    let through = pulling.through();
    let calls = (0..50).map(|_| pulled(&through, "1.4.0", "linux_amd64"));
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|platforms| platforms.len() == 2)), "{answers:?}");
    assert_eq!((pulling.asked(ZIPS), pulling.asked(DOWNLOADS), pulling.tags()), (2, 2, vec!["1.4.0".to_owned()]));
    // What is there is not asked for again.
    let before = pulling.upstream.requests().len();
    pulled(&through, "1.4.0", "darwin_arm64").await.unwrap();
    assert_eq!(pulling.upstream.requests().len(), before);
}

#[tokio::test]
async fn a_failure_is_neither_remembered_nor_absence() {
    let pulling = Pulling::new();
    let through = pulling.through();
    for (path, status, code) in [
        ("/v1/providers/acme/zap/versions", 500, "server-error"),
        ("/v1/providers/acme/zap/versions", 401, "unauthorized"),
        (DOWNLOADS, 503, "server-error"),
        (ZIPS, 502, "server-error"),
    ] {
        pulling.upstream.fault(Rule::on("*", path).then(Fault::SetStatus(status)));
        assert_eq!(pulled(&through, "1.4.0", "linux_amd64").await, Err(code), "{path} {status}");
        pulling.upstream.clear_faults();
        assert!(pulling.tags().is_empty());
    }
    assert_eq!(pulled(&through, "1.4.0", "linux_amd64").await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_unknown_provider_or_version_is_known_as_such_until_it_exists() {
    let pulling = Pulling::new();
    let through = pulling.through();
    assert_eq!(pulled(&through, "1.5.0", "linux_amd64").await, Err("tag-not-found"));
    pulling.upstream.release("acme/zap", "1.5.0", &["linux_amd64"]);
    assert_eq!(pulled(&through, "1.5.0", "linux_amd64").await.unwrap().len(), 1);
    let other = Pulling::new();
    other.upstream.withdraw("acme/zap", "1.4.0");
    other.upstream.fault(Rule::on("GET", "/v1/providers/*").then(Fault::SetStatus(404)));
    let through = other.through();
    assert_eq!(pulled(&through, "1.4.0", "linux_amd64").await, Err("registry-provider-not-known"));
    assert_eq!(versions(&through).await, Err("registry-provider-not-known"));
}

#[tokio::test]
async fn a_caller_that_gives_up_does_not_end_the_fetch_of_the_others() {
    let pulling = Pulling::new();
    let (through, gate) = (pulling.through(), Gate::closed());
    pulling.upstream.fault(Rule::on("GET", ZIPS).once().then(Fault::Hold(gate.clone())));
    let mut first = Box::pin(pulled(&through, "1.4.0", "linux_amd64"));
    tokio::select! {
        done = &mut first => panic!("{done:?}"),
        () = gate.arrived(1) => {}
    }
    let mut second = Box::pin(pulled(&through, "1.4.0", "linux_amd64"));
    assert!((&mut second).now_or_never().is_none());
    drop(first);
    gate.open();
    assert_eq!(second.await.unwrap().len(), 2);
    assert_eq!((pulling.asked(ZIPS), pulling.asked(DOWNLOADS)), (2, 2));
}

#[tokio::test]
async fn a_fetch_ends_with_its_last_caller() {
    let pulling = Pulling::new();
    let (through, gate) = (pulling.through(), Gate::closed());
    pulling.upstream.fault(Rule::on("GET", ZIPS).once().then(Fault::Hold(gate.clone())));
    tokio::select! {
        done = pulled(&through, "1.4.0", "linux_amd64") => panic!("{done:?}"),
        () = gate.arrived(1) => {}
    }
    assert!(pulling.tags().is_empty());
    gate.open();
    assert_eq!(pulled(&through, "1.4.0", "linux_amd64").await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_platform_that_came_later_is_fetched() {
    let pulling = Pulling::new();
    let through = pulling.through();
    pulled(&through, "1.4.0", "linux_amd64").await.unwrap();
    assert_eq!(pulled(&through, "1.4.0", "windows_amd64").await.unwrap().len(), 2, "the upstream has no such package");
    pulling.upstream.release("acme/zap", "1.4.0", &["linux_amd64", "darwin_arm64", "windows_amd64"]);
    assert_eq!(pulled(&through, "1.4.0", "windows_amd64").await.unwrap().len(), 3);
}

/// A policy that demands a key which has signed nothing.
fn other_key() -> Arc<Policy> {
    let armored = ScratchOpenPgpKey::of(2).armored();
    let text = format!(
        "[[key]]\nname = \"acme\"\npem = \"\"\"\n{armored}\n\"\"\"\n\n[[rule]]\nproviders = [\"registry.example.test/*/*\"]\n\
         keys = [\"acme\"]\n"
    );
    Arc::new(Policy::parse(&text).unwrap().resolve(|_| unreachable!("no key is a file")).unwrap())
}

#[tokio::test]
async fn what_the_policy_refuses_is_not_stored() {
    let pulling = Pulling::new();
    let refused = pulled(&pulling.through_with(other_key(), MirrorRules::default()), "1.4.0", "linux_amd64").await;
    assert_eq!(refused, Err("unknown-key"));
    assert_eq!((pulling.asked(ZIPS), pulling.tags().len()), (0, 0));
}

#[tokio::test]
async fn what_the_registry_has_is_listed_without_its_upstream() {
    let pulling = Pulling::new();
    let through = pulling.through();
    pulling.upstream.fault(Rule::on("GET", "/v1/*").then(Fault::SetStatus(500)));
    assert_eq!(versions(&through).await, Err("server-error"));
    pulling.upstream.clear_faults();
    pulled(&through, "1.4.0", "linux_amd64").await.unwrap();
    pulling.upstream.fault(Rule::on("GET", "/v1/*").then(Fault::SetStatus(500)));
    assert_eq!(versions(&through).await.unwrap(), ["1.4.0"]);
}

/// The bytes of a package of 1.4.0 as it is offered, or the code of the error.
async fn opened(through: &PullThrough) -> Result<usize, &'static str> {
    let (address, version) = (ZAP.parse().unwrap(), "1.4.0".parse().unwrap());
    let release = through.offered(&address, &version).await.map_err(|error| error.code())?;
    let offer = Arc::clone(&release).offer(&"linux_amd64".parse().unwrap()).await.map_err(|error| error.code())?;
    let part = offer.package.parts().next().unwrap().clone();
    let opened = offer.release.open(&part).await.map_err(|error| error.code())?;
    let bytes = opened.stream.try_fold(0, |sum, piece| async move { Ok(sum + piece.len()) });
    bytes.await.map_err(|error| error.code())
}

#[tokio::test]
async fn a_package_that_is_opened_has_the_release_fetched_once_for_all() {
    let pulling = Pulling::new();
    let through = pulling.through();
    let release = through.offered(&ZAP.parse().unwrap(), &"1.4.0".parse().unwrap()).await.unwrap();
    assert_eq!(release.platforms().await.unwrap().len(), 2);
    assert!(pulling.tags().is_empty() && pulling.asked(ZIPS) == 0, "what is looked at is not fetched");
    let size = pulling.upstream.zip("acme/zap", "1.4.0", "linux_amd64").len();
    let many = futures_util::future::join_all((0..20).map(|_| opened(&through))).await;
    assert!(many.iter().all(|opened| *opened == Ok(size)), "{many:?}");
    assert_eq!((pulling.asked(ZIPS), pulling.tags()), (2, vec!["1.4.0".to_owned()]));
    // From here on the destination offers it.
    let release = through.offered(&ZAP.parse().unwrap(), &"1.4.0".parse().unwrap()).await.unwrap();
    assert!(release.store().is_some());
}

/// Waits until something holds.
async fn eventually(holds: impl Fn() -> bool) {
    let comes = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), comes).await.expect("it does not come to hold");
}

#[tokio::test]
async fn a_package_that_is_used_out_of_a_cache_has_the_release_fetched_too() {
    let pulling = Pulling::new();
    let through = pulling.through();
    let release = through.offered(&ZAP.parse().unwrap(), &"1.4.0".parse().unwrap()).await.unwrap();
    for _ in 0..20 {
        release.note_use();
    }
    eventually(|| !pulling.tags().is_empty()).await;
    assert_eq!((pulling.asked(ZIPS), pulling.tags()), (2, vec!["1.4.0".to_owned()]));
}

#[tokio::test]
async fn a_destination_that_takes_nothing_does_not_get_every_package_of_a_cache_again() {
    let pulling = Pulling::new();
    pulling.carried.registry.fault(Rule::on("POST", "/v2/*").then(Fault::SetStatus(403)));
    let (through, key) = (pulling.through(), (ZAP.parse().unwrap(), "1.4.0".parse().unwrap()));
    let release = through.offered(&key.0, &key.1).await.unwrap();
    release.note_use();
    eventually(|| through.failed_keeping.is_recent(&key)).await;
    pulling.carried.registry.clear_faults();
    let release = through.offered(&key.0, &key.1).await.unwrap();
    let asked = pulling.upstream.requests().len();
    release.note_use();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(pulling.upstream.requests().len(), asked);
    assert!(pulling.tags().is_empty());
}

#[tokio::test]
async fn a_damaged_package_is_not_opened_either() {
    let pulling = Pulling::new();
    pulling.upstream.fault(Rule::on("GET", ZIPS).then(Fault::CorruptBody(-1)));
    assert!(opened(&pulling.through()).await.is_err());
    assert!(pulling.tags().is_empty());
}

#[tokio::test]
async fn a_destination_that_cannot_be_written_does_not_keep_packages_from_clients() {
    let pulling = Pulling::new();
    pulling.carried.registry.fault(Rule::on("POST", "/v2/*").then(Fault::SetStatus(403)));
    let size = pulling.upstream.zip("acme/zap", "1.4.0", "linux_amd64").len();
    assert_eq!(opened(&pulling.through()).await, Ok(size));
}

#[tokio::test]
async fn a_sealed_mirror_offers_only_what_it_has() {
    let pulling = Pulling::new();
    let sealed = pulling.with(Arc::default(), MirrorRules::default(), UpstreamUse::Sealed);
    assert_eq!(opened(&sealed).await, Err("provider-not-found"));
    assert!(pulling.upstream.requests().is_empty());
    pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap();
    let before = pulling.upstream.requests().len();
    assert!(opened(&sealed).await.is_ok());
    assert_eq!(versions(&sealed).await.unwrap(), ["1.4.0"]);
    assert_eq!(pulling.upstream.requests().len(), before);
}

#[tokio::test]
async fn a_list_of_everything_needs_the_upstream() {
    let pulling = Pulling::new();
    let through = pulling.through();
    pulled(&through, "1.4.0", "linux_amd64").await.unwrap();
    let address = ZAP.parse().unwrap();
    assert_eq!(through.all_versions(&address).await.unwrap().versions.len(), 1);
    pulling.upstream.fault(Rule::on("GET", "/v1/*").then(Fault::SetStatus(500)));
    assert_eq!(through.all_versions(&address).await.unwrap_err().code(), "server-error");
}

mod broken;
mod outcomes;
mod rules;

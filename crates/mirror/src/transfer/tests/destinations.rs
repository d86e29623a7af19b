//! Destinations that have something, and those that fail.

use std::fmt::Write as _;
use tofu_oci_packer::Rename;
use tofu_oci_types::Predecessors;

use super::*;
use tofu_oci_store::Store as _;
use tofu_oci_testkit::{Answer, Deletion, RefusalAnswer, Tags};

#[tokio::test]
async fn more_platforms_are_added_only_if_the_tag_may_move() {
    let mut carried = Carried::new();
    carried.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    let more = Arc::new(OfferedRelease::new("1.4.0", BOTH));
    let error = carried.carry(&more).await.unwrap_err();
    assert_eq!(error.code(), "fewer-platforms");
    assert!(told(&error).ends_with("/zap has example.com/acme/zap 1.4.0 without darwin_arm64"), "{}", told(&error));
    assert_eq!(more.opened(), 0);
    carried = carried.replacing();
    let done = carried.carry(&more).await.unwrap();
    assert_eq!((done.platforms.len(), more.opened()), (2, 1), "the zip that is there is not read again");
}

#[tokio::test]
async fn platforms_that_are_no_longer_wanted_stay() {
    let carried = Carried::new().replacing();
    let three = ["darwin_arm64", "linux_amd64", "windows_amd64"];
    carried.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    let release: Arc<dyn Release> = Arc::new(OfferedRelease::new("1.4.0", &three));
    let request = TransferRequest {
        platforms: vec!["darwin_arm64".parse().unwrap()],
        signing: None,
        files: &[],
        replace: ReplaceTag::Replace,
        rename: Rename::Refuse,
        predecessors: Predecessors::NONE,
        limits: &Limits::default(),
        jobs: 2,
        listed: None,
        work_dir: carried.work.path(),
    };
    let done = transfer(&request, release, &carried.store(), &carried.heard).await.unwrap();
    let names: Vec<String> = done.platforms.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["darwin_arm64", "linux_amd64"]);
}

#[tokio::test]
async fn another_package_under_the_same_version_is_never_stored() {
    for carried in [Carried::new(), Carried::new().replacing()] {
        carried.carry(&Arc::new(OfferedRelease::new("1.4.0", BOTH))).await.unwrap();
        let before = carried.registry.tags("zap");
        let other = tofu_oci_testkit::ProviderZip::new("zap", "1.4.0", "linux_amd64").file("NEW", "x").build();
        for known in [Some(Digest::sha256(&other)), None] {
            let other = OfferedPackage { digest: known, ..OfferedPackage::of(other.clone()) };
            let changed = OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| *package = other);
            let error = carried.carry(&Arc::new(changed)).await.unwrap_err();
            assert!(matches!(&error, MirrorError::UpstreamChanged { platform, .. } if platform.os() == "linux"));
            assert_eq!((error.code(), carried.registry.tags("zap")), ("upstream-changed", before.clone()));
        }
    }
}

#[tokio::test]
async fn a_destination_that_refuses_is_one_clear_error() {
    let refusals = [
        ("POST", "/v2/zap/blobs/*", 507),
        ("PUT", "/v2/zap/blobs/*", 413),
        ("POST", "/v2/zap/blobs/*", 405),
        ("POST", "/v2/zap/blobs/*", 403),
        ("PUT", "/v2/zap/manifests/*", 507),
    ];
    let mut codes = String::new();
    for (method, path, status) in refusals {
        let (carried, release) = (Carried::new(), Arc::new(OfferedRelease::new("1.4.0", BOTH).signed()));
        let answer = Answer::error(status, "REFUSED", "the registry does not take it");
        carried.registry.fault(Rule::on(method, path).then(Fault::Answer(answer)));
        let error = carried.carry(&release).await.unwrap_err();
        writeln!(codes, "{status}: {}", error.code()).unwrap();
        assert!(told(&error).contains(carried.registry.address()), "{}", told(&error));
        assert!(carried.tags().is_empty());
        carried.registry.clear_faults();
        carried.carry(&release).await.unwrap();
        assert_eq!(carried.tags(), ["1.4.0"]);
    }
    insta::assert_snapshot!(codes, @r"
    507: server-error
    413: bad-status
    405: bad-status
    403: denied
    507: server-error
    ");
}

#[tokio::test]
async fn a_lost_connection_is_one_clear_error() {
    let (carried, release) = (Carried::new(), Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"])));
    carried.registry.fault(Rule::on("*", "/v2/zap/blobs/*").then(Fault::Disconnect));
    let error = carried.carry(&release).await.unwrap_err();
    assert_eq!((error.code(), carried.tags().is_empty()), ("connection-lost", true), "{}", told(&error));
}

#[tokio::test]
async fn a_tag_that_may_not_move_stays() {
    let immutable = RefusalAnswer::new(409, "TAG_IMMUTABLE", "the tag may not move");
    let carried = Carried::new().replacing();
    carried.carry(&Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"]))).await.unwrap();
    carried.registry.set_behaviour(Behaviour {
        referrers: ReferrersSupport::Supported,
        tags: Tags::Fixed(immutable),
        ..Behaviour::default()
    });
    let before = carried.registry.tags("zap");
    let error = carried.carry(&Arc::new(OfferedRelease::new("1.4.0", BOTH))).await.unwrap_err();
    assert_eq!(carried.registry.tags("zap"), before, "{}", told(&error));
}

#[tokio::test]
async fn a_version_that_the_destination_has_withdrawn_does_not_come_back() {
    let (carried, release) = (Carried::new(), Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"])));
    let done = carried.carry(&release).await.unwrap();
    carried.registry.set_behaviour(Behaviour { deletion: Deletion::Tags, ..Behaviour::default() });
    carried.registry.put_tag("zap", "withdrawn-1.4.0", done.index.as_ref().unwrap());
    let tag = "1.4.0".parse().unwrap();
    carried.store().untag(&tag, done.index.as_ref().unwrap()).await.unwrap();
    let error = carried.carry(&release).await.unwrap_err();
    assert_eq!((error.code(), carried.tags()), ("withdrawn", vec!["withdrawn-1.4.0".to_owned()]));
}

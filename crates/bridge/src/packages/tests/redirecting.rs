//! Clients that are sent to the registry's own hosts.

use http::Method;
use tofu_oci_packer::PackageLayout;
use tofu_oci_store::ReadStore as _;
use tofu_oci_testkit::{Answer, BlobHost, ClientCertificate, Fault, Registry, Rule};
use tofu_oci_types::{Digest, ProviderAddr, Reference};

use super::super::ZipDelivery;
use super::{BLOBS, Bench, head, linux, serve};
use crate::place_fault::upstream;

#[tokio::test]
async fn a_client_is_sent_where_the_registry_sends_its_readers() {
    let bench = Bench::of(Registry::builder().tls(ClientCertificate::NotAsked).start(), PackageLayout::Artifact).await;
    let objects = BlobHost::start(&bench.registry);
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Redirect { status: 307, prefix: objects.signed_prefix() }));
    let package = bench.package("linux_amd64").await;
    let site = serve(bench.packages(ZipDelivery::SentAway), package.clone()).await;
    let answer = site.get(&[]).await;
    assert_eq!(head(&answer), "307 0 | ? | ? | ? | ? | no-store");
    let location = answer.headers()["location"].to_str().unwrap();
    assert!(location.starts_with(&format!("{}/v2/zap/blobs/sha256:", objects.signed_prefix())), "{location}");
    assert!(objects.requests().is_empty(), "only the client follows");
    assert_eq!(site.ask(Method::HEAD, &[]).await.status(), 200);
    let part = site.get(&[("range", "bytes=5-9")]).await;
    assert_eq!((part.status().as_u16(), part.bytes().await.unwrap().as_ref()), (206, &linux().build()[5..10]));
    let never = serve(bench.packages(ZipDelivery::PassedOn), package).await;
    assert_eq!(never.zip().await, linux().build());
}

#[tokio::test]
async fn an_archive_that_was_passed_on_was_lost_while_its_registry_was_down() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let site = serve(bench.packages(ZipDelivery::FromCache), bench.package("linux_amd64").await).await;
    bench.registry.clear_requests();
    assert_eq!(site.zip().await, linux().build());
    assert_eq!(bench.ranges(), ["-"]);
    bench.registry.fault(Rule::on("GET", "*").then(Fault::SetStatus(503)));
    assert_eq!(site.zip().await, linux().build());
    assert_eq!(bench.ranges().len(), 0, "the registry is not asked for it");
}

#[tokio::test]
async fn an_archive_for_which_the_cache_has_no_room_is_passed_on() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let packages = bench.packages(ZipDelivery::FromCache);
    // No folder can be made there.
    std::fs::remove_dir(bench.cache.path()).unwrap();
    std::fs::write(bench.cache.path(), "").unwrap();
    let site = serve(packages, bench.package("linux_amd64").await).await;
    assert_eq!(site.zip().await, linux().build());
}

#[tokio::test]
async fn clients_got_the_first_bytes_of_what_another_host_sent_for_a_zip() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let objects = BlobHost::start(&bench.registry);
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Redirect { status: 307, prefix: objects.signed_prefix() }));
    let site = serve(bench.packages(ZipDelivery::PassedOn), bench.package("linux_amd64").await).await;
    objects.fault(Rule::on("GET", "*").once().then(Fault::CorruptBody(-1)));
    let came = site.what_came().await;
    assert!(came.starts_with(b"example.com/acme/zap cannot be read: "), "{} bytes came", came.len());
    bench.registry.clear_requests();
    assert_eq!(site.zip().await, linux().build());
    assert_eq!(site.zip().await, linux().build());
    assert_eq!((bench.ranges().len(), objects.requests().len()), (3, 2), "the second one is on the disk");
}

#[tokio::test]
async fn clients_were_told_what_another_host_answered_and_which_digest_its_bytes_have() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let package = bench.package("linux_amd64").await;
    let redirect_to = |prefix: String| {
        bench.registry.clear_faults();
        bench.registry.fault(Rule::on("GET", "/v2/zap/*").then(Fault::Redirect { status: 307, prefix }));
    };
    let answered = async || {
        let answer = serve(bench.packages(ZipDelivery::PassedOn), package.clone()).await.get(&[]).await;
        assert_eq!(answer.status(), 502);
        answer.text().await.unwrap()
    };
    let mut said = Vec::new();
    for fault in [Fault::ReplaceBody("{}".into()), Fault::CorruptBody(-1), Fault::Disconnect] {
        let objects = BlobHost::start(&bench.registry);
        objects.fault(Rule::on("GET", "*").then(fault));
        redirect_to(objects.signed_prefix());
        said.push(answered().await);
    }
    redirect_to("http://127.0.0.1:1".to_owned());
    said.push(answered().await);
    let objects = BlobHost::start(&bench.registry);
    objects.fault(Rule::on("GET", "*").then(Fault::Answer(Answer::error(403, "DENIED", "EVILBYTES internal secret"))));
    redirect_to(objects.signed_prefix());
    said.push(answered().await);
    let (store, address) = (bench.store(), || "example.com/acme/zap".parse::<ProviderAddr>().unwrap());
    let errors = [
        store.manifest(&Reference::Tag("1.0.0".parse().unwrap())).await.map(drop).unwrap_err(),
        store.manifest(&Reference::Digest(Digest::sha256(b""))).await.map(drop).unwrap_err(),
        store.tags().await.map(drop).unwrap_err(),
    ];
    for error in errors {
        let refusal = upstream(address(), &error);
        assert!(refusal.for_operator().contains("EVILBYTES"), "{}", refusal.for_operator());
        said.push(format!("{refusal}\n"));
    }
    said.dedup();
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].ends_with("the access log of the server says what\n"), "{}", said[0]);
}

#[tokio::test]
async fn a_registry_that_redirects_to_itself_or_to_plain_http_or_not_at_all_is_read_here() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let objects = BlobHost::start(&bench.registry);
    let site = serve(bench.packages(ZipDelivery::SentAway), bench.package("linux_amd64").await).await;
    assert_eq!(site.zip().await, linux().build());
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Redirect { status: 307, prefix: objects.signed_prefix() }));
    assert_eq!(site.zip().await, linux().build());
}

#[tokio::test]
async fn a_registry_that_does_not_answer_is_a_502_with_redirects_too() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let site = serve(bench.packages(ZipDelivery::SentAway), bench.package("linux_amd64").await).await;
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::status(503, "UNAVAILABLE")));
    assert_eq!(site.get(&[]).await.status(), 502);
}

#[tokio::test]
async fn a_zip_that_lay_on_the_disk_was_a_502_when_its_registry_failed() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let objects = BlobHost::start(&bench.registry);
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Redirect { status: 307, prefix: objects.signed_prefix() }));
    let site = serve(bench.packages(ZipDelivery::PassedOn), bench.package("linux_amd64").await).await;
    assert_eq!(site.zip().await, linux().build());
    bench.registry.clear_faults();
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::status(503, "UNAVAILABLE")));
    assert_eq!(site.zip().await, linux().build());
}

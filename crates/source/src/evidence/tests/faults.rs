//! Registries that fail, or answer with something else.

use tofu_oci_remote::RemoteStore;
use tofu_oci_testkit::{Answer, Fault, ReferrersSupport, Rule};

use super::requests::Lab;
use super::*;

const API: &str = "/v2/*/referrers/*";
const STANDING_IN: &str = "/v2/*/manifests/sha256-*";

/// What is found, or the name of the error.
async fn found(store: &RemoteStore, index: &Descriptor) -> String {
    match evidence(store, index, Search::Everywhere).await {
        Ok(found) => summary(&found),
        Err(error) => format!("error: {}", crate::SourceError::from(error).code()),
    }
}

/// A registry in which a bundle is listed under the tag.
async fn lab() -> Lab {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &["linux_amd64"]).await;
    lab.put(0, &Referrer::bundle(&lab.index(0), b"{}", Inline::No));
    lab
}

impl Lab {
    async fn check(&self, rule: Rule, want: &str) {
        let text = format!("{rule:?}");
        self.registry.fault(rule);
        assert_eq!(found(&self.store(0), &self.index(0)).await, want, "{text}");
        self.registry.clear_faults();
    }
}

#[tokio::test]
async fn answers_that_say_that_there_is_no_api() {
    let lab = lab().await;
    for status in [400, 404, 405, 406, 415, 501] {
        lab.check(Rule::on("GET", API).then(Fault::Answer(Answer::new(status))), "bundle {}").await;
    }
    let page = Answer::new(200).header("Content-Type", "text/html").body("<html>");
    lab.check(Rule::on("GET", API).then(Fault::Answer(page)), "bundle {}").await;
}

/// A registry that answers with an error instead of its signatures does not look unsigned.
#[tokio::test]
async fn answers_that_are_errors() {
    let lab = lab().await;
    for (status, code) in [(401, "unauthorized"), (403, "denied"), (500, "server-error"), (503, "server-error")] {
        for path in [API, STANDING_IN] {
            let answer = Answer::error(status, "X", "no");
            lab.check(Rule::on("GET", path).then(Fault::Answer(answer)), &format!("error: {code}")).await;
        }
    }
    let manifest =
        format!("/v2/*/manifests/{}", Referrer::bundle(&lab.index(0), b"{}", Inline::No).descriptor().digest);
    lab.check(Rule::on("GET", &manifest).then(Fault::status(500, "X")), "error: server-error").await;
    lab.check(Rule::on("GET", "/v2/*/blobs/*").then(Fault::status(500, "X")), "error: server-error").await;
    let index = Answer::new(200).header("Content-Type", INDEX).body("[]");
    lab.check(Rule::on("GET", API).then(Fault::Answer(index)), "error: bad-body").await;
    let tag = format!("/v2/*/manifests/sha256-{}.sig", lab.index(0).digest.encoded());
    lab.check(Rule::on("GET", &tag).then(Fault::status(502, "X")), "error: server-error").await;
}

#[tokio::test]
async fn content_that_is_gone_or_damaged() {
    let lab = lab().await;
    let bundle = Referrer::bundle(&lab.index(0), b"{}", Inline::No);
    let manifest = format!("/v2/*/manifests/{}", bundle.descriptor().digest);
    let blob = "/v2/*/blobs/*";
    let check = async |path: &str, fault: Fault| {
        lab.registry.fault(Rule::on("GET", path).then(fault));
        let found = found(&lab.store(0), &lab.index(0)).await;
        lab.registry.clear_faults();
        found.replace(lab.registry.address(), "HOST")
    };
    insta::assert_snapshot!(check(&manifest, Fault::status(404, "MANIFEST_UNKNOWN")).await, @"unreadable: HOST/p0 has no manifest sha256:…");
    insta::assert_snapshot!(check(&manifest, Fault::CorruptBody(3)).await, @"unreadable: manifest sha256:… of HOST/p0 is damaged: expected sha256:…, got sha256:…");
    insta::assert_snapshot!(check(blob, Fault::status(404, "BLOB_UNKNOWN")).await, @"unreadable: HOST/p0 has no blob sha256:…");
    insta::assert_snapshot!(check(blob, Fault::CorruptBody(0)).await, @"unreadable: blob sha256:… of HOST/p0 is damaged: expected sha256:…, got sha256:…");
    insta::assert_snapshot!(check(blob, Fault::ReplaceBody("{}{}".into())).await, @"unreadable: blob sha256:… of HOST/p0 has the wrong size: expected 2 bytes, got 4");
}

/// As GitLab does: the tag is read as the digest, and the release's own packages look like its referrers.
#[tokio::test]
async fn a_tag_that_leads_to_the_release_itself_lists_nobody() {
    let lab = Lab::new(ReferrersSupport::Unsupported, 1, &["linux_amd64"]).await;
    let index = lab.index(0);
    lab.registry.put_tag("p0", &format!("sha256-{}", index.digest.encoded()), &index.digest);
    assert_eq!(found(&lab.store(0), &index).await, "");
}

#[tokio::test]
async fn pages_of_the_api_are_followed_and_never_in_a_circle() {
    let lab = Lab::new(ReferrersSupport::Supported, 1, &["linux_amd64"]).await;
    let bundle = Referrer::bundle(&lab.index(0), b"{}", Inline::No);
    lab.put(0, &bundle);
    let page = |entries: &[Descriptor], next: &str| {
        let body = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).to_string();
        let answer = Answer::new(200).header("Content-Type", INDEX).body(body);
        if next.is_empty() { answer } else { answer.header("Link", format!("<{next}>; rel=\"next\"")) }
    };
    let path = format!("/v2/p0/referrers/{}", lab.index(0).digest);
    lab.registry.fault(Rule::on("GET", API).once().then(Fault::Answer(page(&[], &format!("{path}?page=2")))));
    lab.registry.fault(Rule::on("GET", API).then(Fault::Answer(page(&[bundle.descriptor()], ""))));
    assert_eq!(found(&lab.store(0), &lab.index(0)).await, "bundle {}");
    lab.registry.clear_faults();
    let circle = Answer::clone(&page(&[bundle.descriptor()], &path));
    lab.check(Rule::on("GET", API).then(Fault::Answer(circle)), "error: bad-redirect").await;
    let elsewhere = page(&[], "https://elsewhere.test/v2/p0/referrers/x");
    lab.check(Rule::on("GET", API).then(Fault::Answer(elsewhere)), "error: bad-redirect").await;
}

//! What goes with a release beside its packages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use insta::assert_snapshot;
use tofu_oci_source::{Search, evidence};
use tofu_oci_store::ReadStore as _;
use tofu_oci_trust::{Evidence, SignatureForm};
use tofu_oci_types::{Event, Reference};

use crate::testing::{EventLog, Folder, Push, Watching, key, names};
use crate::{AttachmentState, Forms, PackageLayout, PushReport, SumsMode};

const SUMS: &str = "terraform-provider-zap_1.4.0_SHA256SUMS";

/// A packet of `OpenPGP`.
fn packet(packet_type: u8, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = vec![0xc0 | packet_type, u8::try_from(body.len()).unwrap()];
    bytes.extend(body);
    bytes
}

/// A whole RSA signature by a key whose id is the end of this text.
///
/// Spec: RFC 9580, 5.2.3 "Version 4 and 6 Signature Packet Formats".
fn signature(by: &str) -> Vec<u8> {
    let id = &by.as_bytes()[by.len() - 8..];
    let dated = [4, 0, 1, 8, 0, 6, 5, 2, 0, 0, 0, 1];
    packet(2, [&dated[..], &[0, 10, 9, 16], id, &[0xab, 0xcd, 0, 8, 0xff]].concat())
}

fn armored(kind: &str, packets: &[u8]) -> String {
    format!("-----BEGIN PGP {kind}-----\n\n{}\n-----END PGP {kind}-----\n", BASE64.encode(packets))
}

/// One platform, with a signed checksum file.
fn signed() -> Folder {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").sums(SUMS);
    folder.file(&format!("{SUMS}.sig"), signature("by the first key"));
    folder
}

/// What is told of a push: its notes and its attachments.
async fn told(folder: &Folder, push: Push, store: &Watching) -> String {
    let heard = EventLog::default();
    let result = crate::push(&push.request(), store, &heard).await;
    let report = match result {
        Ok(report) => report,
        Err(error) => return folder.told(&error).replace(SUMS, "SUMS"),
    };
    let lines = report.attachments.iter().map(|it| format!("{:?} {:?} {}", it.form, it.state, it.files.join(" ")));
    let lines: Vec<String> = heard.codes().iter().map(ToString::to_string).chain(lines).collect();
    lines.join("\n").replace(SUMS, "SUMS")
}

#[tokio::test]
async fn a_signed_checksum_file_goes_with_the_release() {
    let folder = signed();
    folder.file(&format!("{SUMS}.72D7468F.sig"), signature("by the second key"));
    folder.file(&format!("{SUMS}.old.sig"), signature("not named after a key"));
    folder.file(&format!("{SUMS}.asc"), armored("SIGNATURE", &signature("by the first key again")));
    folder.file("acme.asc", format!("About us\n{}", armored("PUBLIC KEY BLOCK", &packet(6, "Acme"))));
    folder.file("acme.gpg", packet(6, "other"));
    folder.file("acme.pgp", packet(6, "other"));
    folder.file("manual.asc", "= A manual\n");
    let store = Watching::new();
    assert_snapshot!(told(&folder, Push::new(&folder, "1.4.0"), &store).await, @r"
    sums-key-absent
    sums-key-absent
    sums-key-absent
    Sums Attached SUMS SUMS.72D7468F.sig SUMS.asc SUMS.sig acme.asc acme.gpg
    ");
    assert_eq!(store.take().last().map(String::as_str), Some("tag 1.4.0"));

    let index = store.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.unwrap();
    let found = evidence(&store, &index, Search::Everywhere).await.unwrap();
    let [Evidence::Sums { sums, signatures, keys, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(*sums, std::fs::read(folder.path().join(SUMS)).unwrap());
    assert_eq!((signatures.len(), signatures[2].clone()), (3, signature("by the first key")));
    assert_eq!(String::from_utf8(keys[0].clone()).unwrap(), armored("PUBLIC KEY BLOCK", &packet(6, "Acme")));
    assert_eq!(keys.len(), 2);
}

#[tokio::test]
async fn a_signature_of_another_kind_is_not_passed_over_in_silence() {
    let folder = signed();
    folder.file(&format!("{SUMS}.asc"), "MEUCIQDP6OHCqFbsQhD1yqrsYNEB\n");
    assert_snapshot!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, @r"
    sums-signature-not-openpgp
    sums-key-absent
    Sums Attached SUMS SUMS.sig
    ");
    folder.file(&format!("{SUMS}.sig"), [0x30, 0x45, 0x02, 0x21]);
    assert_snapshot!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, @r"
    sums-signature-not-openpgp
    sums-signature-not-openpgp
    ");
}

/// A push that is refused before anything is sent.
async fn refused(folder: &Folder) -> String {
    let store = Watching::new();
    let told = told(folder, Push::new(folder, "1.4.0"), &store).await;
    assert!(store.take().is_empty(), "nothing is sent");
    told
}

#[tokio::test]
async fn a_damaged_signature_of_checksums_is_not_published() {
    let whole = include_bytes!("../../../../../testdata/trust/gpg/ed25519.sig");
    let armor = armored("SIGNATURE", whole);
    for (name, bytes) in [
        ("sig", &whole[..whole.len() - 7]),
        ("sig", &whole[..1]),
        ("sig", b""),
        ("asc", armored("SIGNATURE", &whole[..20]).as_bytes()),
        ("asc", &armor.as_bytes()[..armor.len() / 2]),
        ("72D7468F.sig", &packet(2, [4, 0, 1, 8, 0, 6, 5, 2])),
    ] {
        let folder = signed();
        folder.file(&format!("{SUMS}.{name}"), bytes);
        let told = refused(&folder).await;
        let want = format!("DIST/SUMS.{name} does not sign SUMS\n  cause: the OpenPGP signature is malformed: ");
        assert!(told.starts_with(&want), "{} bytes: {told}", bytes.len());
    }
}

#[tokio::test]
async fn a_signature_that_the_key_beside_it_disproves_is_not_published() {
    let folder = signed();
    folder.file(&format!("{SUMS}.sig"), include_bytes!("../../../../../testdata/trust/gpg/ed25519.sig"));
    let without_key = told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await;
    assert_eq!(without_key, "sums-key-absent\nSums Attached SUMS SUMS.sig");
    folder.file("acme.gpg", include_bytes!("../../../../../testdata/trust/gpg/ed25519.pgp"));
    assert_snapshot!(refused(&folder).await, @r"
    DIST/SUMS.sig does not sign SUMS
      cause: the OpenPGP signature does not fit: openpgp:79AA9B4B42EED887EB65F3A611DA832F1D1A21DA did not sign this text
    ");
}

#[tokio::test]
async fn a_signature_that_nobody_would_read_is_not_published_in_silence() {
    let folder = signed();
    for nth in 0..15 {
        folder.file(&format!("{SUMS}.{nth:08}.sig"), signature(&format!("by key {nth}")));
    }
    assert!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await.contains("\nSums Attached"));
    folder.file(&format!("{SUMS}.asc"), armored("SIGNATURE", &signature("the seventeenth")));
    assert_snapshot!(refused(&folder).await, @"DIST/SUMS.sig is one too many: no more than 16 files with signatures of checksums are read");

    let folder = signed();
    folder.file(&format!("{SUMS}.asc"), armored("SIGNATURE", &signature("by the same key").repeat(3000)));
    assert_snapshot!(refused(&folder).await, @"DIST/SUMS.asc is larger than 65536 bytes, and no more are read of signatures of checksums");
    folder.file(&format!("{SUMS}.asc"), "x".repeat((1 << 20) + 1));
    assert_snapshot!(refused(&folder).await, @"DIST/SUMS.asc is larger than 65536 bytes, and no more are read of signatures of checksums");
}

#[tokio::test]
async fn a_key_that_nobody_would_read_is_not_published_in_silence() {
    let folder = signed();
    folder.file("manual.asc", "= A manual\n".repeat(100_000));
    for nth in 0..16 {
        folder.file(&format!("key{nth:02}.gpg"), packet(6, format!("key {nth}")));
    }
    assert!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await.contains("\nSums Attached"));
    folder.file("key16.gpg", packet(6, "the seventeenth"));
    assert_snapshot!(refused(&folder).await, @"DIST/key16.gpg is one too many: no more than 16 files with OpenPGP keys are read");

    for bytes in [
        packet(6, "x".repeat(100)).repeat(20_000),
        armored("PUBLIC KEY BLOCK", &packet(6, "x".repeat(100)).repeat(20_000)).into_bytes(),
    ] {
        let folder = signed();
        folder.file("acme.pgp", bytes);
        assert_eq!(
            refused(&folder).await,
            "DIST/acme.pgp is larger than 1048576 bytes, and no more are read of OpenPGP keys"
        );
    }
}

#[tokio::test]
async fn a_checksum_file_without_a_signature_stays_behind() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").sums(SUMS);
    assert_eq!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, "sums-unsigned");
    let folder = signed();
    let skip = Push { sums: SumsMode::Skip, ..Push::new(&folder, "1.4.0") };
    assert_snapshot!(told(&folder, skip, &Watching::new()).await, @"");
}

#[tokio::test]
async fn a_signed_list_that_does_not_cover_the_release_is_not_published() {
    let folder = Folder::new();
    let program = [("terraform-provider-zap_v1.4.0", &b"program"[..])];
    folder.zip("terraform-provider-zap_Linux_x86_64.zip", &program).sums(SUMS);
    folder.file(&format!("{SUMS}.sig"), signature("by the first key"));
    folder.file("metadata.json", r#"{"version": "1.4.0"}"#);
    let artifacts = r#"[
        {"name": "terraform-provider-zap_Linux_x86_64.zip", "path": "dist/terraform-provider-zap_Linux_x86_64.zip",
         "goos": "linux", "goarch": "amd64", "type": "Archive"},
        {"name": "SUMS", "path": "dist/SUMS", "type": "Checksum"}
    ]"#;
    folder.file("artifacts.json", artifacts.replace("SUMS", SUMS));
    assert_snapshot!(refused(&folder).await, @"the signed DIST/SUMS does not cover the release: it names terraform-provider-zap_Linux_x86_64.zip, and not terraform-provider-zap_1.4.0_linux_amd64.zip");
    let skip = Push { sums: SumsMode::Skip, ..Push::new(&folder, "1.4.0") };
    assert_snapshot!(told(&folder, skip, &Watching::new()).await, @"");
    folder.file(SUMS, format!("{}  terraform-provider-zap_Linux_x86_64.zip\n", "a".repeat(128)));
    assert_snapshot!(refused(&folder).await, @"the signed DIST/SUMS does not cover the release: its checksums are not of SHA-256");
}

#[tokio::test]
async fn a_signed_list_with_an_unusual_name_was_left_out_in_silence() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").sums("sha256sums.txt").file("sha256sums.txt.sig", signature("by the key"));
    assert_snapshot!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, @r"
    sums-key-absent
    Sums Attached sha256sums.txt sha256sums.txt.sig
    ");
    let long = format!("{}  terraform-provider-zap_1.4.0_linux_amd64.zip\n", "a".repeat(128));
    for name in ["terraform-provider-zap_1.4.0_SHA512SUMS", "BLAKE2SUMS"] {
        let folder = Folder::new();
        folder.package("1.4.0", "linux_amd64").sums(SUMS).file(name, &long);
        assert_eq!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, "sums-unsigned");
        folder.file(&format!("{name}.sig"), signature("by the key"));
        let said = refused(&folder).await.replace(name, "NAME");
        assert_eq!(said, "the signed DIST/NAME does not cover the release: its checksums are not of SHA-256");
        // Each is for those that read it.
        folder.file(&format!("{SUMS}.sig"), signature("by the key"));
        assert!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await.ends_with("SUMS SUMS.sig"));
    }
}

#[tokio::test]
async fn a_second_list_with_a_wrong_checksum_was_not_read() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").sums(SUMS).sums("checksums.txt");
    assert_eq!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, "sums-unsigned");
    let wrong = |name: &str| format!("{}  terraform-provider-zap_{name}_linux_amd64.zip\n", "a".repeat(64));
    folder.file("checksums.txt", wrong("1.3.0")).file("b3sums", wrong("1.4.0"));
    assert_eq!(told(&folder, Push::new(&folder, "1.4.0"), &Watching::new()).await, "sums-unsigned");
    folder.file("checksums.txt", wrong("1.4.0"));
    let said = refused(&folder).await;
    assert_snapshot!(said.split(": expected").next().unwrap(), @"DIST/terraform-provider-zap_1.4.0_linux_amd64.zip does not match line 1 of DIST/checksums.txt");
    // An invalid line hid the others.
    folder.file("checksums.txt", format!("no checksum here\n{}", wrong("1.4.0")));
    let error = crate::read_dist(&folder.path()).unwrap_err();
    assert_eq!(error.code(), "metadata-invalid", "{error}");
}

#[tokio::test]
async fn the_hints_for_two_absent_keys_wrote_one_file() {
    let folder = signed();
    folder.file(&format!("{SUMS}.asc"), signature("of another"));
    let hints = |folder: &Folder| {
        let Push { dist, address, version, .. } = Push::new(folder, "1.4.0");
        let (_, events) = dist.signed_sums(&address, &version).unwrap();
        let hint = |event: &Event| folder.hide(&serde_json::to_value(event).unwrap()["hint"].to_string());
        events.iter().map(hint).collect::<Vec<_>>()
    };
    assert_snapshot!(hints(&folder).join("\n"), @r#"
    "put the public key beside it: gpg --armor --export 20616E6F74686572 > DIST/key.asc"
    "put the public key beside it: gpg --armor --export 69727374206B6579 > DIST/69727374206B6579.asc"
    "#);
    folder.file("key.asc", armored("PUBLIC KEY BLOCK", &packet(6, "Acme")));
    assert_snapshot!(hints(&folder).join("\n"), @r#"
    "put the public key beside it: gpg --armor --export 20616E6F74686572 > DIST/20616E6F74686572.asc"
    "put the public key beside it: gpg --armor --export 69727374206B6579 > DIST/69727374206B6579.asc"
    "#);
}

#[tokio::test]
async fn a_list_of_the_names_of_a_build_goes_with_the_release() {
    let folder = Folder::new();
    folder.package("v1.4.0", "linux_armv7").package("v1.4.0", "darwin_all").sums(SUMS);
    folder.file(&format!("{SUMS}.sig"), signature("by the first key"));
    let store = Watching::new();
    let report = crate::push(&Push::new(&folder, "1.4.0").request(), &store, &EventLog::default()).await.unwrap();
    let names: Vec<&str> = report.what.platforms.iter().map(|platform| platform.filename.as_str()).collect();
    assert_snapshot!(names.join("\n"), @r"
    terraform-provider-zap_1.4.0_darwin_amd64.zip
    terraform-provider-zap_1.4.0_darwin_arm64.zip
    terraform-provider-zap_1.4.0_linux_arm.zip
    ");
    assert_snapshot!(told(&folder, Push::new(&folder, "1.4.0"), &store).await, @r"
    sums-key-absent
    Sums Present SUMS SUMS.sig
    ");
}

#[tokio::test]
async fn images_alone_have_no_zips_to_prove() {
    let folder = signed();
    let image = Push { layout: PackageLayout::Image, ..Push::new(&folder, "1.4.0") };
    assert_snapshot!(told(&folder, image, &Watching::new()).await, @r"
    sums-key-absent
    sums-without-zips
    Sums Attached SUMS SUMS.sig
    ");
}

#[tokio::test]
async fn a_private_key_stops_the_push_before_anything_is_sent() {
    for (name, bytes) in [
        ("acme.asc", armored("PRIVATE KEY BLOCK", &packet(5, "secret")).into_bytes()),
        ("acme.gpg", packet(5, "secret")),
        ("release.pgp", [packet(6, "public"), packet(7, "secret")].concat()),
    ] {
        let folder = signed();
        folder.file(name, bytes);
        let store = Watching::new();
        let error = Push::new(&folder, "1.4.0").run(&store).await.expect_err("a private key");
        assert_eq!(folder.told(&error), format!("DIST/{name} holds a private key"));
        assert!(store.take().is_empty());
    }
}

#[tokio::test]
async fn the_signature_is_there_before_the_tag() {
    let folder = signed();
    let store = Watching::new();
    let push = Push { signer: Some((key(1), Forms::Both)), ..Push::new(&folder, "1.4.0") };
    let report = push.run(&store).await.unwrap();
    let forms: Vec<SignatureForm> = report.attachments.iter().map(|it| it.form).collect();
    assert_eq!(forms, [SignatureForm::Sums, SignatureForm::Bundle, SignatureForm::CosignTag]);
    let written: Vec<String> = store.take().into_iter().filter(|what| what.starts_with("tag")).collect();
    assert_eq!(written, [format!("tag sha256-{}.sig", report.what.index.encoded()), "tag 1.4.0".to_owned()]);
    assert_eq!(store.referrers(&report.what.index).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_push_that_breaks_off_anywhere_leaves_no_tag_without_its_signature() {
    let folder = signed();
    let push = |folder: &Folder| Push { signer: Some((key(1), Forms::Both)), ..Push::new(folder, "1.4.0") };
    let store = Watching::new();
    let whole = push(&folder).run(&store).await.unwrap();
    for fail_at in 0..store.take().len() {
        let store = Watching { fail_at: Some(fail_at), ..Watching::new() };
        push(&folder).run(&store).await.expect_err("told to fail");
        let store = Watching { inner: store.inner, ..Watching::new() };
        assert!(store.resolve(&Reference::Tag("1.4.0".parse().unwrap())).await.is_err());
        let again: PushReport = push(&folder).run(&store).await.unwrap();
        let manifests =
            |report: &PushReport| report.attachments.iter().map(|it| it.manifest.clone()).collect::<Vec<_>>();
        assert_eq!((again.what.index.clone(), manifests(&again)), (whole.what.index.clone(), manifests(&whole)));
    }
}

#[tokio::test]
async fn an_equal_release_gets_what_it_lacks() {
    let folder = signed();
    let store = Watching::new();
    Push { sums: SumsMode::Skip, ..Push::new(&folder, "1.4.0") }.run(&store).await.unwrap();
    store.take();
    let sign = || Push { signer: Some((key(1), Forms::Bundle)), ..Push::new(&folder, "1.4.0") };
    let plan = {
        let push = sign();
        crate::plan(&push.request(), &store, &EventLog::default()).await.unwrap()
    };
    assert!(plan.attachments.iter().all(|it| it.state == AttachmentState::Missing));
    assert_eq!(plan.bytes_to_send, plan.attachments.iter().map(|it| it.bytes).sum::<u64>());
    assert!(store.take().is_empty(), "a plan writes nothing");
    let report = sign().run(&store).await.unwrap();
    assert!(report.unchanged);
    assert!(report.attachments.iter().all(|it| it.state == AttachmentState::Attached));
    let planned: Vec<_> = plan.attachments.iter().map(|it| it.manifest.clone()).collect();
    assert_eq!(planned, report.attachments.iter().map(|it| it.manifest.clone()).collect::<Vec<_>>());
    assert!(store.take().iter().all(|what| what.starts_with("push")), "no tag is touched");
    let again = sign().run(&store).await.unwrap();
    assert!(again.attachments.iter().all(|it| it.state == AttachmentState::Present));
    assert!(store.take().is_empty());
}

#[tokio::test]
async fn a_plan_lists_what_would_be_attached() {
    let folder = signed();
    let push = Push { signer: Some((key(1), Forms::Both)), ..Push::new(&folder, "1.4.0") };
    let plan = crate::plan(&push.request(), &Watching::new(), &EventLog::default()).await.unwrap();
    let manifests: Vec<_> = plan.attachments.iter().map(|it| it.manifest.clone()).collect();
    let report = push.run(&Watching::new()).await.unwrap();
    assert_eq!(manifests, report.attachments.iter().map(|it| it.manifest.clone()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_signed_index_carries_no_checksum_that_another_program_has_remembered() {
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64").package("1.4.0", "darwin_arm64");
    let memo = tempfile::tempdir().unwrap();
    let mut push = Push { memo_dir: Some(memo.path().to_owned()), ..Push::new(&folder, "1.4.0") };
    let true_index = push.run(&Watching::new()).await.unwrap().what.index;
    let forged = tofu_oci_types::PackageHash::h1(&[1; 32]).to_string();
    let remembered = names(memo.path());
    assert_eq!(remembered.len(), 2);
    for name in remembered {
        std::fs::write(memo.path().join(name), &forged).unwrap();
    }
    push.signer = Some((key(1), Forms::Bundle));
    assert_eq!(push.run(&Watching::new()).await.unwrap().what.index, true_index);
    for name in names(memo.path()) {
        assert_ne!(std::fs::read_to_string(memo.path().join(name)).unwrap().trim_end(), forged, "it is fixed");
    }
}

//! Signed checksums, the publisher's and our own.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_trust::{Evidence, KeyStanding, OpenPgpKey, OpenPgpSecretKeyError, verify_detached};
use tofu_oci_types::{Digest, Secret};

use super::*;

mod released;

const LINUX: &str = "terraform-provider-zap_1.2.0_linux_amd64.zip";
const DARWIN: &str = "terraform-provider-zap_1.2.0_darwin_arm64.zip";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(490_908)
}

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/gpg-secret").join(name)
}

fn key(name: &str) -> OpenPgpSecretKey {
    OpenPgpSecretKey::parse(&std::fs::read(file(name)).unwrap(), None, now()).unwrap()
}

fn lines() -> SumsLines {
    let zip = |platform: &str, name: &str, content: &str| {
        let (digest, size) = (Digest::sha256(content.as_bytes()), content.len() as u64);
        (platform.parse().unwrap(), SumsZip { name: name.to_owned(), digest, size })
    };
    SumsLines::new([zip("linux_amd64", LINUX, "linux"), zip("darwin_arm64", DARWIN, "darwin")])
}

/// What lies beside a release: a text, the key that signed it, and the keys that travel with it.
fn evidence(text: &str, signer: &OpenPgpSecretKey, keys: &[&OpenPgpSecretKey]) -> Evidence {
    Evidence::Sums {
        origin: Digest::sha256(b"manifest"),
        sums: text.into(),
        signatures: vec![signer.sign(text.as_bytes())],
        keys: keys.iter().map(|key| key.public().into()).collect(),
    }
}

/// Whose key signed the original that is served; the text and the signature must be the very bytes.
fn served(found: Option<&ReleaseSums>, text: &str) -> String {
    let Some(sums) = found else { return "none".to_owned() };
    assert_eq!(sums.text, text);
    let [SumsKey { key_id, ascii_armor }] = &sums.keys[..] else { panic!("one key, not {}", sums.keys.len()) };
    let keys = OpenPgpKey::parse(ascii_armor.as_bytes()).unwrap();
    let verified = verify_detached(&sums.text, &sums.signature, &keys, now()).unwrap();
    assert_eq!(verified.standing, KeyStanding::Good);
    key_id.clone()
}

#[track_caller]
fn check(text: &str, evidence: Vec<Evidence>, want: &str) {
    assert_eq!(served(original(evidence, &lines(), now()).as_ref(), text), want);
}

#[test]
fn our_own_lines_are_sorted_and_signed() {
    let (key, sums) = (key("ed25519.asc"), own(&lines(), &key("ed25519.asc")));
    let want =
        format!("{}  {DARWIN}\n{}  {LINUX}\n", Digest::sha256(b"darwin").encoded(), Digest::sha256(b"linux").encoded());
    assert_eq!(served(Some(&sums), &want), key.key_id());
    assert_eq!(sums, own(&lines(), &key), "two instances answer with the same bytes");
    assert_eq!(lines().zips_in(&sums.text).as_ref(), Some(lines().zips()));
}

#[test]
fn the_publishers_own_file_is_served_under_the_names_that_it_has() {
    let publisher = key("subkey.asc");
    let text = lines().to_string().replace("_1.2.0_", "_v1.2.0_").replace("darwin_arm64", "darwin_all");
    let found = original(vec![evidence(&text, &publisher, &[&publisher])], &lines(), now());
    assert_eq!(served(found.as_ref(), &text), publisher.key_id());
    let names: Vec<String> = found.unwrap().zips.into_values().map(|zip| zip.name).collect();
    assert_eq!(
        names,
        ["terraform-provider-zap_v1.2.0_darwin_all.zip", "terraform-provider-zap_v1.2.0_linux_amd64.zip"]
    );
}

#[test]
fn a_file_that_clients_cannot_read_is_not_served() {
    let publisher = key("subkey.asc");
    let whole = lines().to_string();
    let bsd = |line: &str| line.split_once("  ").map(|(sum, name)| format!("SHA256 ({name}) = {sum}\n"));
    for text in [
        whole.replace("  ", " *"),
        whole.replace("  ", "  dist/"),
        format!("{whole}\n{whole}"),
        whole.lines().filter_map(bsd).collect(),
    ] {
        check(&text, vec![evidence(&text, &publisher, &[&publisher])], "none");
    }
}

#[test]
fn the_publishers_own_file_is_served_unchanged() {
    let (publisher, other) = (key("subkey.asc"), key("rsa.asc"));
    let text = format!("{}# no\n", lines()).replace("# no\n", &format!("{}  manifest.json\n", "0".repeat(64)));
    let id = publisher.key_id();
    check(&text, vec![evidence(&text, &publisher, &[&publisher])], &id);
    check(&text, vec![evidence(&text, &publisher, &[&other, &publisher])], &id);
    let Evidence::Sums { origin, sums, signatures, keys } = evidence(&text, &publisher, &[&other, &publisher]) else {
        unreachable!("it was just made")
    };
    let joined = Evidence::Sums { origin, sums, signatures, keys: vec![keys.concat()] };
    check(&text, vec![joined], &id);
}

#[test]
fn a_file_that_does_not_fit_is_not_served() {
    let (publisher, other) = (key("subkey.asc"), key("ed25519.asc"));
    let whole = lines().to_string();
    let of = |text: &str| vec![evidence(text, &publisher, &[&publisher])];
    check(&whole, vec![], "none");
    // A platform is missing, a checksum is another one, a name is another one.
    check(&whole, of(whole.lines().next().unwrap()), "none");
    check(&whole, of(&whole.replace(Digest::sha256(b"linux").encoded(), &"0".repeat(64))), "none");
    check(&whole, of(&whole.replace(LINUX, "renamed.zip")), "none");
    check(&whole, of("not a checksum file\n"), "none");
    // The key is not at hand, or did not sign this text.
    check(&whole, vec![evidence(&whole, &publisher, &[])], "none");
    check(&whole, vec![evidence(&whole, &publisher, &[&other])], "none");
    let Evidence::Sums { origin, sums, keys, .. } = evidence(&whole, &publisher, &[&publisher]) else {
        unreachable!("it was just made")
    };
    check(&whole, vec![Evidence::Sums { origin, sums, keys, signatures: vec![publisher.sign(b"other")] }], "none");
    // Another piece beside it decides nothing.
    let later = evidence(&whole, &publisher, &[&publisher]);
    check(&whole, [of("not a checksum file\n"), vec![later]].concat(), &publisher.key_id());
}

#[test]
fn a_new_key_is_for_its_owner_alone_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bridge-key.asc");
    let made = new_key(&path).unwrap();
    let loaded = load_key(&path, None).unwrap();
    assert_eq!((loaded.fingerprint(), loaded.sign(b"text")), (made.fingerprint(), made.sign(b"text")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let before = std::fs::read(&path).unwrap();
    let error = new_key(&path).unwrap_err();
    assert_eq!(error.code(), "signing-key-exists");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_key_file_that_cannot_be_used_says_why() {
    let code = |name: &str, password: Option<&str>| {
        load_key(&file(name), password.map(Secret::new).as_ref()).unwrap_err().code()
    };
    assert_eq!(code("missing.asc", None), "signing-key-missing");
    assert_eq!(code("", None), "signing-key-unreadable");
    assert_eq!(code("locked.asc", None), "signing-key-password-needed");
    assert_eq!(code("locked.asc", Some("another")), "signing-key-password-wrong");
    assert_eq!(code("ed25519-public.asc", None), "signing-key-unusable");
    assert!(load_key(&file("locked.asc"), Some(&Secret::new("the password"))).is_ok());
    let error = load_key(&file("README.md"), None).unwrap_err();
    let KeyFileError::Unusable { source, .. } = &error else { panic!("{error}") };
    assert_eq!(*source, OpenPgpSecretKeyError::Malformed);
}

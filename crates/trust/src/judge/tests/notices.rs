//! What was said of `acme/widget 1.4.0` later.

use super::*;
use crate::testing::{bundle, key, named, names, statement, subject};
use crate::{NOTICE_PREDICATE, Notice, NoticeWriter, ReleaseState, StatedNotice, sign_notice};

use ReleaseState::{Available, Deprecated, Withdrawn};

fn notice(state: ReleaseState, supersedes: &[&Evidence]) -> Notice {
    let digest = |piece: &&Evidence| {
        let Evidence::Notice { bytes, .. } = piece else { panic!("a notice") };
        StatedNotice::peek(bytes).unwrap().unwrap().digest
    };
    let reason = format!("it is {state}").parse().unwrap();
    let supersedes = supersedes.iter().map(digest).collect();
    Notice { state, reason, writer: NoticeWriter::Publisher, replaced_by: None, supersedes }
}

fn piece(bytes: Vec<u8>) -> Evidence {
    Evidence::Notice { origin: Digest::sha256(&bytes), bytes }
}

/// A notice that the key of this number has signed.
fn signed(number: u8, state: ReleaseState, supersedes: &[&Evidence]) -> Evidence {
    piece(subject(|subject| sign_notice(&key(number), subject, &notice(state, supersedes))))
}

/// A notice that has no signature.
fn bare(state: ReleaseState, supersedes: &[&Evidence]) -> Evidence {
    piece(subject(|subject| notice(state, supersedes).to_statement(subject)))
}

#[test]
fn a_release_that_was_withdrawn_is_refused_although_it_is_signed() {
    let scene = Scene::with_policy(&[1], "");
    check(&scene.clone().found([bundle(1), signed(1, Withdrawn, &[])]), "refused withdrawn");
    check(&scene.clone().found([signed(1, Withdrawn, &[]), bundle(1)]), "refused withdrawn");
    check(&scene.clone().found([bundle(1), signed(1, Deprecated, &[])]), "signed [a] index; Warning deprecated");
    check(&scene.found([bundle(1), signed(1, Available, &[])]), "signed [a] index");
}

#[test]
fn a_person_cannot_accept_a_release_that_was_withdrawn() {
    let withdrawn = Scene::new().found([bare(Withdrawn, &[])]);
    check(&withdrawn, "refused withdrawn");
    assert_eq!(withdrawn.not_accepted(), "withdrawn");
    assert_eq!(withdrawn.judge().by_hand, ManualAcceptance::DoesNot);
    // Neither does it help that the very index was trusted before.
    let pinned = Scene::with_policy(&[1], "").found([bundle(1)]).remembered();
    check(&pinned.clone().found([bundle(1), signed(1, Withdrawn, &[])]), "refused withdrawn");
    check(&pinned.without_policy().found([bundle(1), signed(1, Withdrawn, &[])]), "refused withdrawn");
}

#[test]
fn a_flood_of_notices_does_not_hide_that_a_pinned_release_was_withdrawn() {
    let pinned = Scene::with_policy(&[1], "").found([bundle(1)]).remembered();
    let flood = || Evidence::UnreadNotices { origin: Digest::sha256(b""), problem: "there are too many".to_owned() };
    check(&pinned.clone().found([]), "pinned [] index; Note signature-gone");
    check(&pinned.clone().found([flood()]), "refused bad-signature");
    check(&pinned.clone().found([flood(), bundle(1)]), "refused bad-signature");
    check(&pinned.without_policy().found([flood()]), "refused bad-signature");
}

#[test]
fn only_a_notice_of_a_key_that_counts_refuses_what_keys_vouch_for() {
    let scene = Scene::with_policy(&[1], "");
    let not_counted = "signed [a] index; Warning notice-not-counted";
    check(&scene.clone().found([bundle(1), bare(Withdrawn, &[])]), not_counted);
    check(&scene.clone().found([bundle(1), signed(2, Withdrawn, &[])]), not_counted);
    check(&scene.clone().found([bundle(1), bare(Deprecated, &[])]), not_counted);
    let remembered = scene.clone().found([bundle(1)]).remembered().without_policy();
    check(&remembered.found([bundle(1), bare(Withdrawn, &[])]), not_counted);
    // The unsigned copy of a signed notice adds nothing.
    let both = [bundle(1), bare(Withdrawn, &[]), signed(1, Withdrawn, &[])];
    check(&scene.found(both), "refused withdrawn");
    check(&Scene::new().found([signed(2, Withdrawn, &[])]), "refused withdrawn");
}

#[test]
fn only_a_notice_that_counts_takes_another_one_back() {
    let scene = Scene::with_policy(&[1], "");
    let withdrawn = signed(1, Withdrawn, &[]);
    let back = signed(1, Available, &[&withdrawn]);
    check(&scene.clone().found([bundle(1), withdrawn.clone(), back.clone()]), "signed [a] index");
    for forged in [bare(Available, &[&withdrawn]), signed(2, Available, &[&withdrawn])] {
        check(&scene.clone().found([bundle(1), withdrawn.clone(), forged]), "refused withdrawn");
    }
    let again = signed(1, Withdrawn, &[&back]);
    check(&scene.clone().found([bundle(1), withdrawn.clone(), back.clone(), again]), "refused withdrawn");
    // The first notice, shown again.
    check(&scene.found([withdrawn.clone(), back, withdrawn, bundle(1)]), "signed [a] index");
}

#[test]
fn a_notice_about_another_release_is_ignored() {
    let scene = Scene::with_policy(&[1], "");
    let ignored = "signed [a] index; Warning other-notice";
    let about = |index: &str, address: &str, version: &str| {
        let (index, address, version) =
            (Digest::sha256(index.as_bytes()), address.parse().unwrap(), version.parse().unwrap());
        let subject = crate::SignedSubject { index: &index, address: &address, version: &version };
        piece(sign_notice(&key(1), &subject, &notice(Withdrawn, &[])))
    };
    let (address, version) = ("example.com/acme/widget", "1.4.0");
    check(&scene.clone().found([bundle(1), about("1.4.0", address, version)]), "refused withdrawn");
    check(&scene.clone().found([bundle(1), about("1.4.1", address, version)]), ignored);
    check(&scene.clone().found([bundle(1), about("1.4.0", "example.com/acme/other", version)]), ignored);
    check(&scene.clone().found([bundle(1), about("1.4.0", address, "1.4.1")]), ignored);
    let damaged = Evidence::Notice { origin: Digest::sha256(b""), bytes: b"{}".to_vec() };
    check(&scene.clone().found([bundle(1), damaged]), "signed [a] index; Warning notice-unreadable");
    let Evidence::Bundle { origin, bytes } = bundle(1) else { panic!("a bundle") };
    let signature = Evidence::Notice { origin, bytes };
    check(&scene.found([signature]), "refused unsigned; Warning notice-unreadable");
}

#[test]
fn a_notice_that_names_the_predecessor_was_ignored() {
    let (index, version) = (Digest::sha256(b"1.4.0"), "1.4.0".parse().unwrap());
    let address = "old.example/acme/widget".parse().unwrap();
    let subject = crate::SignedSubject { index: &index, address: &address, version: &version };
    let said = piece(sign_notice(&key(1), &subject, &notice(Withdrawn, &[])));
    let mut scene = Scene::with_policy(&[1], "").found([bundle(1), said]);
    check(&scene, "signed [a] index; Warning other-notice");
    let moved: tofu_oci_types::Predecessor = "example.com=old.example".parse().unwrap();
    scene.policy = scene.policy.with_predecessors([moved].into_iter().collect());
    check(&scene, "refused withdrawn");
}

#[test]
fn a_notice_is_never_a_signature() {
    let rule = format!("predicate_types = [\"{NOTICE_PREDICATE}\"]");
    let scene = Scene::with_policy(&[1], &rule);
    // As another program would attach it: in a bundle like that of a signature.
    let Evidence::Notice { origin, bytes } = signed(1, Available, &[]) else { panic!("a notice") };
    check(&scene.clone().found([Evidence::Bundle { origin, bytes }]), "refused unsigned");
    let names = names("example.com/acme/widget", "1.4.0");
    let empty = statement(1, NOTICE_PREDICATE, &[named(&Digest::sha256(b"1.4.0"), &names)]);
    check(&scene.found([empty]), "refused unsigned; Warning notice-unreadable");
}

#[test]
fn what_is_said_of_a_module_names_no_provider() {
    let module = Scene::with_policy(&[1], "modules = [\"*\"]\nunnamed = \"refuse\"");
    let module = module.of(|_, version| Subject::Module { wanted: Some(version), claimed: None });
    let (index, other) = (index("1.4.0"), index("1.4.1"));
    let about = |digest| crate::SignedContent::Manifest(digest);
    let bytes = crate::sign_bundle(&key(1), about(&index), None);
    let signature = Evidence::Bundle { origin: Digest::sha256(&bytes), bytes };
    check(&module.clone().found([signature.clone()]), "signed [a] index");
    let said = |digest| piece(sign_notice(&key(1), about(digest), &notice(Withdrawn, &[])));
    check(&module.clone().found([signature.clone(), said(&index)]), "refused withdrawn");
    // Of another version of the module, or of a provider: neither is about this manifest as a module.
    let ignored = "signed [a] index; Warning other-notice";
    check(&module.clone().found([signature.clone(), said(&other)]), ignored);
    check(&module.found([signature, signed(1, Withdrawn, &[])]), ignored);
}

#[test]
fn a_signature_of_a_provider_on_a_module_was_refused_in_the_name_of_a_provider_that_does_not_exist() {
    let module = Scene::with_policy(&[1], "modules = [\"*\"]").found([bundle(1)]);
    let module = module.of(|_, version| Subject::Module { wanted: Some(version), claimed: None });
    let refusal = module.judge().refusal.expect("it names a provider");
    let sentence = "the signature by a says that this is example.com/acme/widget, not a module";
    assert_eq!(refusal.to_string(), sentence);
}

#[test]
fn a_signed_module_that_says_another_version_is_an_old_one_under_a_new_tag() {
    static OLD: std::sync::LazyLock<Version> = std::sync::LazyLock::new(|| version("1.3.0"));
    let module = Scene::with_policy(&[1], "modules = [\"*\"]");
    let bytes = crate::sign_bundle(&key(1), crate::SignedContent::Manifest(&index("1.4.0")), None);
    let module = module.found([Evidence::Bundle { origin: Digest::sha256(&bytes), bytes }]);
    let same = module.clone().of(|_, version| Subject::Module { wanted: Some(version), claimed: Some(version) });
    check(&same, "signed [a] index");
    let old = module.of(|_, version| Subject::Module { wanted: Some(version), claimed: Some(&OLD) });
    check(&old, "refused other-version index");
}

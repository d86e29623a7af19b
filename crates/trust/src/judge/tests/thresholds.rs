//! How many keys, and whose.

use insta::assert_snapshot;

use super::*;
use crate::testing::{bundle, cosign_tag, key};

#[test]
fn a_threshold_counts_distinct_keys() {
    let two = |evidence: &[Evidence]| Scene::with_policy(&[1, 2, 3], "threshold = 2").found(evidence.to_vec());
    check(&two(&[bundle(1), bundle(2)]), "signed [b a] index");
    check(&two(&[bundle(1)]), "refused threshold");
    check(&two(&[]), "refused unsigned");
    check(&two(&[bundle(4)]), "refused unknown-key");
    assert_snapshot!(two(&[bundle(1)]).judge().refusal.unwrap(), @"it is signed by 1 key (a), and 2 are asked for");
}

#[test]
fn two_signatures_by_one_key_count_once() {
    let scene = Scene::with_policy(&[1, 2], "threshold = 2").found([bundle(1), bundle(1), cosign_tag(1)]);
    check(&scene, "refused threshold");
}

#[test]
fn two_names_for_one_key_do_not_make_two_keys() {
    let pem = key(1).public().to_pem();
    let other = key(2).public().to_pem();
    let text = format!(
        "[[key]]\nname = \"one\"\npem = \"\"\"{pem}\"\"\"\n[[key]]\nname = \"two\"\npem = \"\"\"\n{pem}\"\"\"\n\
         [[key]]\nname = \"three\"\npem = \"\"\"{other}\"\"\"\n\
         [[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"one\", \"two\", \"three\"]\nthreshold = 2\n"
    );
    let mut scene = Scene::new().found([bundle(1), cosign_tag(1)]);
    scene.policy = Policy::parse(&text).unwrap().resolve(|_| Ok(Vec::new())).unwrap();
    check(&scene, "refused threshold");
    check(&scene.found([bundle(1), bundle(2)]), "signed [three one] index");
}

#[test]
fn each_predicate_type_needs_the_threshold() {
    let scan = "https://example.com/scan/v1";
    let names = crate::testing::names("example.com/acme/widget", "1.4.0");
    let subject = crate::testing::named(&index("1.4.0"), &names);
    let scanned = |number| crate::testing::statement(number, scan, std::slice::from_ref(&subject));
    let rule = format!("threshold = 2\npredicate_types = [\"{}\", \"{scan}\"]", crate::SIGN_PREDICATE);
    let scene = |evidence: &[Evidence]| Scene::with_policy(&[1, 2], &rule).found(evidence.to_vec());
    check(&scene(&[bundle(1), bundle(2), scanned(1)]), "refused threshold");
    check(&scene(&[bundle(1), bundle(2), scanned(1), scanned(2)]), "signed [b a] index");
}

//! The numbers of repositories and owners: a name that somebody else has by now.

use super::*;

#[test]
fn the_name_of_a_repository_that_was_given_away_does_not_count() {
    let numbered = |id: &'static str| BuiltBy { repository_id: Some(id), ..BuiltBy::RELEASE };
    let first = Stage::ruled(WORKFLOW, EXACT).built(&numbered("4"));
    check(&first.scene, "signed [acme] index");
    let pins = first.scene.remembered().pins;
    let text = pins.to_text();
    assert!(text.contains(r#""github.com/acme/widget": "4""#), "{text}");
    let pins = Pins::parse(&text).expect("pins");
    assert_eq!(pins.to_text(), text);
    let next = |identity: &str, by: &BuiltBy<'_>| {
        let stage = Stage::ruled(identity, EXACT).built(by);
        Scene { pins: pins.clone(), place: "ghcr.io/acme/new".parse().expect("a place"), ..stage.scene }
    };
    check(&next(WORKFLOW, &numbered("4")), "signed [acme] index");
    let other = next(WORKFLOW, &numbered("5"));
    let narrower = format!("{WORKFLOW}runner = \"github-hosted\"\n");
    check_outcomes(&next(&narrower, &numbered("5")), &["other-identity"]);
    check_outcomes(&other, &["other-identity"]);
    let refusal = other.judge().examined[0].outcome.to_string();
    let given = "is of another repository: another one has the name github.com/acme/widget now: its id was 4 and is 5";
    assert_eq!(refusal, given);
    // The person who writes the policy may know better.
    check(&next(&format!("{WORKFLOW}repository_id = \"5\"\n"), &numbered("5")), "signed [acme] index");
    let said = Stage::ruled(&format!("{WORKFLOW}repository_id = \"4\"\n"), EXACT);
    check(&said.built(&numbered("5")).scene, "refused other-identity");
}

/// A release with the pins that a first one left, at another place.
fn after(first: Stage, identity: &str, by: &BuiltBy<'_>) -> Scene {
    let pins = Pins::parse(&first.scene.remembered().pins.to_text()).expect("pins");
    Scene { pins, place: "ghcr.io/acme/new".parse().expect("a place"), ..Stage::ruled(identity, EXACT).built(by).scene }
}

#[test]
fn a_certificate_without_the_number_of_a_repository_that_had_one_counted() {
    let numbered = BuiltBy { repository_id: Some("4"), ..BuiltBy::RELEASE };
    let first = || Stage::ruled(WORKFLOW, EXACT).built(&numbered);
    let bare = after(first(), WORKFLOW, &BuiltBy::RELEASE);
    check_outcomes(&bare, &["other-identity"]);
    assert_eq!(
        bare.judge().examined[0].outcome.to_string(),
        "is not shown to be of the same repository: its certificate has no id of github.com/acme/widget, which \
         was 4"
    );
    // Another issuer need not give numbers.
    let own = BuiltBy { issuer: "https://token.example.com", ..BuiltBy::RELEASE };
    let identity = format!("{WORKFLOW}issuer = \"https://token.example.com\"\n");
    check(&after(first(), &identity, &own), "signed [acme] index");
    // Nothing is known of the number.
    let bare = || Stage::ruled(WORKFLOW, EXACT).built(&BuiltBy::RELEASE);
    check(&after(bare(), WORKFLOW, &BuiltBy::RELEASE), "signed [acme] index");
    check(&after(bare(), WORKFLOW, &numbered), "signed [acme] index");
}

#[test]
fn the_name_of_an_owner_that_was_given_away_counted_for_a_new_repository() {
    let any = WORKFLOW.replace("acme/widget", "acme/*");
    let of = |repository, workflow, owner_id| BuiltBy {
        repository,
        workflow,
        repository_id: Some("4"),
        owner_id: Some(owner_id),
        ..BuiltBy::RELEASE
    };
    let widget = of("github.com/acme/widget", BuiltBy::RELEASE.workflow, "7");
    let gadget = |owner_id| BuiltBy {
        repository_id: Some("5"),
        ..of("github.com/Acme/gadget", "github.com/Acme/gadget/.github/workflows/release.yml", owner_id)
    };
    let first = || Stage::ruled(&any, EXACT).built(&widget);
    let text = first().scene.remembered().pins.to_text();
    assert!(text.contains(r#""github.com/acme": "7""#), "{text}");
    check(&after(first(), &any, &gadget("7")), "signed [acme] index");
    let other = after(first(), &any, &gadget("8"));
    check_outcomes(&other, &["other-identity"]);
    assert_eq!(
        other.judge().examined[0].outcome.to_string(),
        "is of another owner: another one has the name github.com/acme now: its id was 7 and is 8"
    );
    // The number of the repository outranks that of its owner.
    let said = format!("{}repository_id = \"5\"\n", WORKFLOW.replace("acme/widget", "acme/gadget"));
    check(&after(first(), &said, &gadget("8")), "signed [acme] index");
}

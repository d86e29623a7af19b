use super::*;
use crate::fixtures::{address, index, private, public, version, with_subject};
use crate::{SignedSubject, open_bundle};

fn notice(state: ReleaseState, reason: &str, supersedes: &[&StatedNotice]) -> Notice {
    let supersedes = supersedes.iter().map(|notice| notice.digest.clone()).collect();
    Notice { state, reason: reason.parse().unwrap(), writer: NoticeWriter::Publisher, replaced_by: None, supersedes }
}

fn stated(notice: &Notice) -> StatedNotice {
    let bytes = with_subject(|subject| notice.to_statement(subject));
    StatedNotice::peek(&bytes).unwrap().unwrap()
}

#[test]
fn a_statement_says_what_the_notice_says() {
    let mut notice = notice(ReleaseState::Withdrawn, "it deletes \"everything\"", &[]);
    notice.replaced_by = Some(Digest::sha256(b"new"));
    notice.supersedes = [Digest::sha256(b"b"), Digest::sha256(b"a")].into();
    let bytes = with_subject(|subject| notice.to_statement(subject));
    let found = StatedNotice::peek(&bytes).unwrap().unwrap();
    assert_eq!(found.notice, notice);
    assert_eq!(found.digest, Digest::sha256(&bytes));
    let is_about = |index: &Digest, address: &str, version: &str| {
        let (address, version) = (address.parse().unwrap(), version.parse().unwrap());
        found.is_about(&SignedSubject { index, address: &address, version: &version })
    };
    let (own, one) = (address().to_string(), version().to_string());
    assert!(is_about(&index(), &own, &one));
    assert!(!is_about(&Digest::sha256(b"x"), &own, &one));
    assert!(!is_about(&index(), "example.com/acme/other", &one));
    assert!(!is_about(&index(), &own, "2.0.0"));
    assert!(!found.is_about(SignedContent::Manifest(&index())));
    insta::assert_snapshot!(String::from_utf8(bytes).unwrap(), @r#"{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"41fc87ebfa1add0bf3e668238cf58fad7d1259029d6f5ed4504e0eb15f9db5db"},"annotations":{"org.opentofu.provider.address":"registry.example.test/acme/widget","org.opentofu.provider.version":"1.0.0"}}],"predicateType":"https://opentofu.org/tofu-oci/release-notice/v1","predicate":{"state":"withdrawn","reason":"it deletes \"everything\"","replacedBy":"sha256:11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437","supersedes":["sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d","sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"]}}"#);
}

#[test]
fn a_notice_about_a_module_names_its_manifest_alone() {
    let notice = notice(ReleaseState::Withdrawn, "it deletes everything", &[]);
    let found = StatedNotice::peek(&notice.to_statement(SignedContent::Manifest(&index()))).unwrap().unwrap();
    assert!(found.is_about(SignedContent::Manifest(&index())));
    assert!(!found.is_about(SignedContent::Manifest(&Digest::sha256(b"x"))));
    assert!(!with_subject(|subject| found.is_about(subject)));
}

#[test]
fn a_bundle_carries_the_same_statement() {
    let notice = notice(ReleaseState::Deprecated, "use 2.0.0", &[]);
    let bundle = with_subject(|subject| sign_notice(&private("p256"), subject, &notice));
    let in_bundle =
        StatedNotice { is_signed: true, claimed_key: Some(public("p256").id().to_string()), ..stated(&notice) };
    assert_eq!(StatedNotice::peek(&bundle).unwrap().unwrap(), in_bundle);
    let signed = open_bundle(&bundle, &[public("p256")]).unwrap();
    assert_eq!(signed.statement.predicate_type, NOTICE_PREDICATE);
    let signature = with_subject(|subject| crate::sign_bundle(&private("p256"), subject, None));
    assert_eq!(StatedNotice::peek(&signature).unwrap(), None);
}

#[test]
fn the_gravest_of_those_that_hold_is_in_force() {
    use ReleaseState::{Available, Deprecated, Withdrawn};
    let withdrawn = stated(&notice(Withdrawn, "broken", &[]));
    let deprecated = stated(&notice(Deprecated, "old", &[]));
    let back = stated(&notice(Available, "fixed", &[&withdrawn]));
    let again = stated(&notice(Withdrawn, "broken after all", &[&back]));
    let check = |notices: &[&StatedNotice], want: Option<&StatedNotice>| {
        let found = in_force(notices.iter().copied());
        assert_eq!(found, want);
        assert_eq!(in_force(notices.iter().rev().copied()), want);
    };
    check(&[], None);
    check(&[&deprecated], Some(&deprecated));
    check(&[&deprecated, &withdrawn], Some(&withdrawn));
    check(&[&withdrawn, &back], Some(&back));
    check(&[&withdrawn, &back, &deprecated], Some(&deprecated));
    // The old notice that is shown again stays superseded.
    check(&[&withdrawn, &withdrawn, &back], Some(&back));
    check(&[&withdrawn, &back, &again], Some(&again));
    check(&[&back, &again], Some(&again));
    // What supersedes is not there: the old notice holds.
    check(&[&withdrawn, &again], Some(if withdrawn.digest < again.digest { &withdrawn } else { &again }));
}

#[test]
fn notices_that_supersede_each_other_all_around_count_all() {
    let (mut one, mut other) =
        (stated(&notice(ReleaseState::Available, "a", &[])), stated(&notice(ReleaseState::Withdrawn, "b", &[])));
    one.notice.supersedes.insert(other.digest.clone());
    other.notice.supersedes.insert(one.digest.clone());
    assert_eq!(in_force([&one, &other]), Some(&other));
    one.notice.supersedes = [one.digest.clone()].into();
    assert_eq!(in_force([&one]), Some(&one));
}

#[track_caller]
fn check_predicate(predicate: &str, want: &str) {
    let hex = index().encoded().to_owned();
    let text = format!(
        r#"{{"_type":"https://in-toto.io/Statement/v1","subject":[{{"digest":{{"sha256":"{hex}"}}}}],"predicateType":"{NOTICE_PREDICATE}","predicate":{predicate}}}"#
    );
    let problem = StatedNotice::peek(text.as_bytes()).map(|found| found.map(|found| found.notice.state));
    let problem = problem.map_err(|fault| fault.to_string().replace("the signature is malformed: ", ""));
    assert_eq!(problem.map_or_else(|fault| fault, |state| format!("{state:?}")), want, "{predicate}");
}

#[test]
fn statements_that_are_read() {
    check_predicate(r#"{"state":"withdrawn","reason":"r"}"#, "Some(Withdrawn)");
    check_predicate(r#"{"state":"withdrawn","reason":"r","supersedes":[],"later":1}"#, "Some(Withdrawn)");
    check_predicate("[]", "`predicate` is not an object");
    check_predicate("{}", "`state` is missing");
    check_predicate(r#"{"state":"gone","reason":"r"}"#, "`state` is \"gone\"");
    check_predicate(r#"{"state":"withdrawn"}"#, "`reason` is missing");
    check_predicate(r#"{"state":"withdrawn","reason":" "}"#, "`reason`: the text is empty");
    let twice = "the member \"state\" is there twice at line 1 column 250";
    check_predicate(r#"{"state":"withdrawn","state":"available","reason":"r"}"#, twice);
    check_predicate(r#"{"state":"withdrawn","reason":"r","replacedBy":"x"}"#, "\"x\" is not a digest");
    check_predicate(
        r#"{"state":"withdrawn","reason":"r","supersedes":[1]}"#,
        "`supersedes` holds something else than texts",
    );
    let many = vec![format!("\"{}\"", index()); 101].join(",");
    check_predicate(
        &format!(r#"{{"state":"withdrawn","reason":"r","supersedes":[{many}]}}"#),
        "it supersedes 101 statements, and at most 100 are read",
    );
}

#[test]
fn reasons_are_one_line() {
    let check = |text: &str, want: Result<&str, InvalidNoticeReason>| {
        assert_eq!(text.parse::<NoticeReason>().as_ref().map(NoticeReason::as_str).map_err(|error| *error), want);
    };
    check(" it fails on \u{e4} ", Ok("it fails on \u{e4}"));
    check("", Err(InvalidNoticeReason::Empty));
    check("a\nb", Err(InvalidNoticeReason::NotOneLine));
    check("a\u{2028}b", Err(InvalidNoticeReason::NotOneLine));
    check("a\u{1b}[31mb", Err(InvalidNoticeReason::NotOneLine));
    check(&"\u{e4}".repeat(1024), Ok(&"\u{e4}".repeat(1024)));
    check(&"a".repeat(1025), Err(InvalidNoticeReason::TooLong { characters: 1025 }));
}

#[test]
fn people_who_withdrew_in_the_words_of_the_mirror_were_taken_for_it() {
    for (reason, unnamed) in [
        ("opens port 22", NoticeWriter::Publisher),
        ("the rules of the mirror no longer name this version", NoticeWriter::Mirror),
        ("https://registry.example no longer lists this version", NoticeWriter::Mirror),
    ] {
        for writer in [NoticeWriter::Publisher, NoticeWriter::Mirror] {
            let notice = Notice { writer, ..notice(ReleaseState::Withdrawn, reason, &[]) };
            let bytes = with_subject(|subject| notice.to_statement(subject));
            let mut statement: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(StatedNotice::peek(&bytes).unwrap().unwrap().notice, notice);
            statement["predicate"].as_object_mut().unwrap().remove("writer");
            let older = StatedNotice::peek(statement.to_string().as_bytes()).unwrap().unwrap();
            assert_eq!(older.notice.writer, unnamed, "{reason}");
        }
    }
}

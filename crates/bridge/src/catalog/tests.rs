//! Catalogs of scripted places, by a paused clock.

use std::time::Duration;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_source::{NotOffered, SourceError};
use tofu_oci_store::{GiveUpReason, StoreError};
use tofu_oci_trust::{Notice, NoticeWriter, Pins, Policy, ReleaseState};
use tokio::time::Instant;

use self::scripted::{Codes, Script, Scripted, unauthorized, unavailable};
use super::*;
use crate::{VersionAbsence, WithdrawnVersion};

mod large;
mod pulling;
mod scripted;

const WIDGET: &str = "example.com/acme/widget";
const ALL: &str = "example.com/*/*";

fn trust(policy: Policy) -> Trust {
    let now = std::time::SystemTime::UNIX_EPOCH;
    Trust {
        policy: Arc::new(policy),
        pins: Pins::default(),
        pins_path: "pins".into(),
        now,
        renamed: RenamedReleases::Refuse,
    }
}

pub(super) fn options() -> (CatalogOptions, Arc<Codes>) {
    let codes = Arc::new(Codes::default());
    (CatalogOptions::new(trust(Policy::default()), Arc::clone(&codes) as _), codes)
}

fn catalog(place: &Arc<Scripted>) -> Catalog {
    Catalog::new(vec![place.served(ALL)], options().0)
}

/// The versions, or the code of the refusal.
async fn versions(catalog: &Catalog, address: &str) -> Result<Vec<String>, &'static str> {
    let found = catalog.versions(&address.parse().unwrap()).await.map_err(|refusal| refusal.code())?;
    Ok(found.versions.iter().map(ToString::to_string).collect())
}

async fn release(catalog: &Catalog, version: &str) -> Result<Arc<ServedRelease>, Refusal> {
    catalog.release(&WIDGET.parse().unwrap(), &version.parse().unwrap()).await
}

/// Lets tasks that are not waiting for a time go on.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

async fn pass(seconds: u64) {
    settle().await;
    tokio::time::advance(Duration::from_secs(seconds)).await;
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn sixty_four_equal_questions_are_one() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(Script::AnswersAfter(Duration::from_secs(2)));
    let catalog = catalog(&place);
    let lists = futures_util::future::join_all((0..64).map(|_| versions(&catalog, WIDGET))).await;
    assert!(lists.iter().all(|list| *list == Ok(vec!["1.0.0".to_owned()])));
    let releases = futures_util::future::join_all((0..64).map(|_| release(&catalog, "1.0.0"))).await;
    assert!(releases.iter().all(Result::is_ok));
    assert_eq!(place.asked(), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_used_for_its_time() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let catalog = catalog(&place);
    for (after, asked) in [(0, 1), (59, 1), (1, 2), (59, 2), (1, 3)] {
        pass(after).await;
        versions(&catalog, WIDGET).await.unwrap();
        assert_eq!(place.asked().0, asked);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_used_for_ten_seconds() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let catalog = catalog(&place);
    for (after, asked) in [(0, 1), (9, 1), (1, 2)] {
        pass(after).await;
        assert_eq!(release(&catalog, "9.9.9").await.unwrap_err().code(), "version-not-found");
        assert_eq!(place.asked().1, asked);
    }
    let what = NotOffered::UnknownProvider;
    place.does(Script::Fails(Box::new(SourceError::NotOffered {
        address: WIDGET.parse().unwrap(),
        place: "example.com/x".parse().unwrap(),
        what,
    })));
    assert_eq!(versions(&catalog, WIDGET).await, Err("provider-not-found"));
    assert_eq!(versions(&catalog, "other.example/a/b").await, Err("not-served"));
}

#[tokio::test(start_paused = true)]
async fn an_old_answer_is_better_than_an_error() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let (options, codes) = options();
    let catalog = Catalog::new(vec![place.served(ALL)], options);
    versions(&catalog, WIDGET).await.unwrap();
    for failing in [Script::Fails(unavailable()), Script::Fails(unauthorized()), Script::Panics] {
        place.does(failing);
        pass(7200).await;
        let begun = Instant::now();
        assert_eq!(versions(&catalog, WIDGET).await, Ok(vec!["1.0.0".to_owned()]));
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
    assert_eq!(*codes.0.lock().unwrap(), ["served-stale"], "it is reported once");
    // A place that does not answer at all delays its clients by a second, and is refreshed after them.
    place.does(Script::Hangs);
    pass(7200).await;
    let begun = Instant::now();
    assert_eq!(versions(&catalog, WIDGET).await, Ok(vec!["1.0.0".to_owned()]));
    assert_eq!(begun.elapsed(), Duration::from_secs(1));
    place.does(Script::AnswersAfter(Duration::from_secs(5)));
    place.listing.lock().unwrap().versions.push("1.1.0".parse().unwrap());
    // The question that hangs ends after 18 s, and the next one comes 10 s later.
    pass(18).await;
    pass(10).await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap().len(), 1);
    pass(5).await;
    let asked = place.asked().0;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap().len(), 2);
    assert_eq!(place.asked().0, asked);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_old_is_not_used() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let options = CatalogOptions { stale: Duration::from_mins(10), ..options().0 };
    let catalog = Catalog::new(vec![place.served(ALL)], options);
    versions(&catalog, WIDGET).await.unwrap();
    place.does(Script::Fails(unauthorized()));
    pass(599).await;
    assert!(versions(&catalog, WIDGET).await.is_ok());
    pass(20).await;
    assert_eq!(versions(&catalog, WIDGET).await, Err("unauthorized"));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_gone_is_not_served_from_memory() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let catalog = catalog(&place);
    release(&catalog, "1.0.0").await.unwrap();
    place.contents.lock().unwrap().clear();
    place.listing.lock().unwrap().withdrawn.push("1.0.0".parse().unwrap());
    pass(61).await;
    let absence = VersionAbsence::Withdrawn(WithdrawnVersion {
        by: Some(NoticeWriter::Publisher),
        reason: Some("it eats data".to_owned()),
    });
    let (address, version) = (WIDGET.parse::<ProviderAddr>().unwrap().into(), "1.0.0".parse().unwrap());
    let gone = Refusal::UnknownVersion { address, version, absence };
    assert_eq!(release(&catalog, "1.0.0").await.unwrap_err(), gone);
    place.does(Script::Fails(unavailable()));
    pass(11).await;
    assert_eq!(release(&catalog, "1.0.0").await.unwrap_err().code(), "server-error");
    assert_eq!(versions(&catalog, WIDGET).await, Err("server-error"));
}

#[tokio::test(start_paused = true)]
async fn a_question_is_held_until_the_place_recovers() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(Script::Fails(unavailable()));
    let catalog = catalog(&place);
    let (begun, after) = (Instant::now(), async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        place.does(Script::Answers);
    });
    let many = futures_util::future::join_all((0..40).map(|_| versions(&catalog, WIDGET)));
    let (lists, ()) = tokio::join!(many, after);
    assert!(lists.iter().all(Result::is_ok), "{lists:?}");
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    assert!(place.asked().0 < 10, "{}", place.asked().0);
}

#[tokio::test(start_paused = true)]
async fn a_place_that_stays_away_is_no_missing_provider() {
    for (script, code, least, most) in [
        (Script::Fails(unavailable()), "server-error", 7, 9),
        (Script::Hangs, "timeout", 9, 9),
        (Script::Fails(unauthorized()), "unauthorized", 0, 0),
        (Script::Panics, "bug", 0, 0),
    ] {
        let place = Scripted::new("example.com/x", &["1.0.0"]);
        place.does(script.clone());
        let (catalog, begun) = (catalog(&place), Instant::now());
        assert_eq!(versions(&catalog, WIDGET).await, Err(code));
        let took = begun.elapsed().as_secs();
        assert!((least..=most).contains(&took), "{script:?} took {took} s");
        place.does(Script::Answers);
        pass(9).await;
        pass(10).await;
        assert!(versions(&catalog, WIDGET).await.is_ok(), "after {script:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_with_its_registry_down_was_held_for_nine_seconds_a_question() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let options = CatalogOptions { hold: Duration::from_secs(4), ..options().0 };
    let catalog = Catalog::new(vec![place.served(ALL)], options);
    place.does(Script::Fails(unavailable()));
    for _ in 0..2 {
        let begun = Instant::now();
        assert_eq!(versions(&catalog, WIDGET).await, Err("server-error"));
        assert!(begun.elapsed() <= Duration::from_secs(4), "{:?}", begun.elapsed());
    }
    // A place that is slow has failed in nothing yet.
    place.does(Script::AnswersAfter(Duration::from_secs(6)));
    pass(61).await;
    assert!(versions(&catalog, WIDGET).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_registry_names_is_waited_for() {
    let limited = |seconds| {
        let error =
            StoreError::RateLimited { place: "example.com/x".parse().unwrap(), seconds, reason: GiveUpReason::Wait };
        Script::Fails(Box::new(SourceError::Store(error)))
    };
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(limited(5));
    let (one, begun) = (catalog(&place), Instant::now());
    let recovers = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        place.does(Script::Answers);
    };
    let (list, ()) = tokio::join!(versions(&one, WIDGET), recovers);
    assert!(list.is_ok());
    assert_eq!((begun.elapsed(), place.asked().0), (Duration::from_secs(5), 2));
    // What is longer than a client waits is said at once.
    place.does(limited(60));
    let (other, begun) = (catalog(&place), Instant::now());
    assert_eq!(versions(&other, WIDGET).await, Err("too-many-requests"));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    pass(30).await;
    assert_eq!((versions(&other, WIDGET).await, place.asked().0), (Err("too-many-requests"), 3));
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_on_without_its_client() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(Script::AnswersAfter(Duration::from_secs(17)));
    let catalog = catalog(&place);
    {
        let gives_up = tokio::time::timeout(Duration::from_secs(1), versions(&catalog, WIDGET));
        gives_up.await.unwrap_err();
    }
    pass(17).await;
    let begun = Instant::now();
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
    assert_eq!((begun.elapsed(), place.asked().0), (Duration::ZERO, 1));
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_end_ends_soon_after_its_last_client_and_is_not_begun_anew_at_once() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(Script::Hangs);
    let catalog = catalog(&place);
    assert_eq!(versions(&catalog, WIDGET).await, Err("timeout"));
    pass(8).await;
    assert_eq!(place.ended(), 0);
    pass(1).await;
    assert_eq!((place.ended(), place.asked().0), (1, 1), "the place is still read");
    // Whoever asks next gets the reason at once.
    let begun = Instant::now();
    let refusal = catalog.versions(&WIDGET.parse().unwrap()).await.unwrap_err();
    assert_eq!(refusal.to_string(), "example.com/acme/widget cannot be read: its place does not answer within 18 s");
    assert_eq!((begun.elapsed(), place.asked().0), (Duration::ZERO, 1));
    place.does(Script::Answers);
    pass(10).await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_on_as_long_as_a_client_waits_for_it() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(Script::AnswersAfter(Duration::from_secs(20)));
    let catalog = catalog(&place);
    assert_eq!(versions(&catalog, WIDGET).await, Err("timeout"));
    pass(3).await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
    assert_eq!(place.asked().0, 1);
    // A client that gives up at its end ends it, too.
    place.does(Script::Hangs);
    let address = "example.com/acme/gadget";
    assert_eq!(versions(&catalog, address).await, Err("timeout"));
    pass(6).await;
    assert_eq!(versions(&catalog, address).await, Err("timeout"));
    settle().await;
    assert_eq!((place.ended(), place.asked().0), (1, 2));
    assert_eq!(versions(&catalog, address).await, Err("timeout"));
    assert_eq!(place.asked().0, 2);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_place_does_not_delay_another() {
    let (stuck, quick) = (Scripted::new("stuck.test/x", &["1.0.0"]), Scripted::new("quick.test/x", &["1.0.0"]));
    stuck.does(Script::Hangs);
    let options = CatalogOptions { at_once: 8, at_one_host: 4, ..options().0 };
    let catalog = Arc::new(Catalog::new(vec![stuck.served("stuck.test/*/*"), quick.served(ALL)], options));
    for number in 0..100 {
        let (catalog, address) = (Arc::clone(&catalog), format!("stuck.test/acme/p{number}"));
        tokio::spawn(async move { versions(&catalog, &address).await });
    }
    settle().await;
    assert_eq!(stuck.asked().0, 4);
    let begun = Instant::now();
    assert!(versions(&catalog, WIDGET).await.is_ok());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn questions_wait_for_their_turn_and_are_not_refused() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    place.does(Script::AnswersAfter(Duration::from_secs(1)));
    let options = CatalogOptions { at_once: 8, at_one_host: 8, ..options().0 };
    let catalog = Catalog::new(vec![place.served(ALL)], options);
    let addresses: Vec<String> = (0..48).map(|number| format!("example.com/acme/p{number}")).collect();
    let begun = Instant::now();
    let lists = futures_util::future::join_all(addresses.iter().map(|address| versions(&catalog, address))).await;
    assert!(lists.iter().all(Result::is_ok));
    assert_eq!((begun.elapsed(), place.asked().0), (Duration::from_secs(6), 48));
}

#[tokio::test(start_paused = true)]
async fn a_release_that_has_not_changed_costs_one_small_request() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let catalog = catalog(&place);
    let first = release(&catalog, "1.0.0").await.unwrap();
    assert_eq!(place.asked(), (0, 1, 1));
    pass(61).await;
    assert!(Arc::ptr_eq(&first, &release(&catalog, "1.0.0").await.unwrap()));
    assert_eq!(place.asked(), (0, 2, 1));
    // A tag that moved to another release.
    place.contents.lock().unwrap().insert("1.0.0".parse().unwrap(), "second");
    pass(61).await;
    let second = release(&catalog, "1.0.0").await.unwrap();
    assert_eq!(place.asked(), (0, 3, 2));
    let hashes = |release: &ServedRelease| release.packages.values().next().unwrap().hashes.clone();
    assert_ne!(hashes(&first), hashes(&second));
    // A judgement does not count for ever.
    pass(3601).await;
    release(&catalog, "1.0.0").await.unwrap();
    assert_eq!(place.asked(), (0, 4, 3));
}

#[tokio::test(start_paused = true)]
async fn a_release_says_what_is_known_of_its_packages() {
    let catalog = catalog(&Scripted::new("example.com/x", &["1.0.0"]));
    let release = release(&catalog, "1.0.0").await.unwrap();
    assert_eq!((release.protocols.join(" "), release.packages.len()), ("6.0".to_owned(), 1));
    let package = &release.packages[&"linux_amd64".parse().unwrap()];
    let schemes: Vec<&str> = package.hashes.iter().map(|hash| &hash.as_str()[..3]).collect();
    assert_eq!(schemes, ["zh:", "h1:"]);
}

#[tokio::test(start_paused = true)]
async fn withdrawn_versions_are_absent_and_deprecations_are_warnings() {
    let place = Scripted::new("example.com/x", &["1.0.0", "1.1.0"]);
    {
        let mut listing = place.listing.lock().unwrap();
        listing.withdrawn.push("0.9.0".parse().unwrap());
        listing.deprecated.extend(["0.9.0", "1.0.0"].map(|text| text.parse::<Version>().unwrap()));
        listing.warnings.push("it moved".to_owned());
    }
    *place.notice.lock().unwrap() = Some(notice());
    let found = catalog(&place).versions(&WIDGET.parse().unwrap()).await.unwrap();
    let texts: Vec<String> = found.versions.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["1.0.0", "1.1.0"]);
    let deprecated = "example.com/acme/widget 1.0.0: its publisher has deprecated it: use 1.1.0";
    assert_eq!(found.warnings, ["it moved", deprecated]);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_came_back_was_hidden_for_ten_minutes() {
    let place = Scripted::new("example.com/x", &["1.0.0", "1.1.0"]);
    let catalog = catalog(&place);
    let version: Version = "1.1.0".parse().unwrap();
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0", "1.1.0"]);
    let content = place.contents.lock().unwrap().remove(&version).unwrap();
    place.listing.lock().unwrap().withdrawn.push(version.clone());
    release(&catalog, "1.1.0").await.unwrap_err();
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"], "the list of before went on with it");
    place.contents.lock().unwrap().insert(version, content);
    place.listing.lock().unwrap().withdrawn.clear();
    pass(61).await;
    versions(&catalog, WIDGET).await.unwrap();
    settle().await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0", "1.1.0"]);
}

fn notice() -> Notice {
    let (state, reason) = (ReleaseState::Deprecated, "use 1.1.0".parse().unwrap());
    Notice { state, reason, writer: NoticeWriter::Publisher, replaced_by: None, supersedes: [].into() }
}

fn signed_only() -> Policy {
    let armored = tofu_oci_testkit::ScratchOpenPgpKey::of(2).armored();
    let text = format!(
        "[[key]]\nname = \"acme\"\npem = \"\"\"\n{armored}\n\"\"\"\n\n[[rule]]\nproviders = [\"{ALL}\"]\nkeys = [\"acme\"]\n"
    );
    Policy::parse(&text).unwrap().resolve(|_| unreachable!("no key is a file")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_release_that_is_not_trusted_is_refused_and_then_not_listed() {
    let place = Scripted::new("example.com/x", &["1.0.0", "1.1.0"]);
    place.listing.lock().unwrap().deprecated.push("1.0.0".parse().unwrap());
    *place.notice.lock().unwrap() = Some(notice());
    let options = CatalogOptions { trust: trust(signed_only()), ..options().0 };
    let catalog = Catalog::new(vec![place.served(ALL)], options);
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0", "1.1.0"], "lists judge nothing");
    let listed = catalog.versions(&WIDGET.parse().unwrap()).await.unwrap();
    assert!(listed.warnings.is_empty(), "an unsigned notice does not count: {:?}", listed.warnings);
    let refusal = release(&catalog, "1.1.0").await.unwrap_err();
    assert!(matches!(&refusal, Refusal::Untrusted { .. }), "{refusal:?}");
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"], "a kept list went on with what was refused");
    pass(61).await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0"]);
    pass(601).await;
    assert_eq!(versions(&catalog, WIDGET).await.unwrap(), ["1.0.0", "1.1.0"]);
}

#[tokio::test(start_paused = true)]
async fn made_up_names_do_not_displace_answers() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let options = CatalogOptions { most: 20, ..options().0 };
    let catalog = Catalog::new(vec![place.served(ALL)], options);
    versions(&catalog, WIDGET).await.unwrap();
    let unknown = NotOffered::UnknownProvider;
    place.does(Script::Fails(Box::new(SourceError::NotOffered {
        address: WIDGET.parse().unwrap(),
        place: "example.com/x".parse().unwrap(),
        what: unknown,
    })));
    for number in 0..200 {
        let made_up = format!("example.com/made/up{number}");
        assert_eq!(versions(&catalog, &made_up).await, Err("provider-not-found"));
    }
    assert!(versions(&catalog, WIDGET).await.is_ok());
    assert_eq!(place.asked().0, 201);
    place.does(Script::Answers);
    for number in 0..200 {
        versions(&catalog, &format!("example.com/real/p{number}")).await.unwrap();
    }
    assert_eq!(catalog.providers().await.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn the_providers_that_are_named_and_those_that_were_asked_for() {
    let place = Scripted::new("example.com/x", &["1.0.0"]);
    let catalog = Catalog::new(vec![place.served(ALL), place.served("example.com/acme/gadget")], options().0);
    versions(&catalog, WIDGET).await.unwrap();
    let names: Vec<String> = catalog.providers().await.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["example.com/acme/gadget", WIDGET]);
}

use super::*;

/// The locked package, which is also the offered one.
const RIGHT: SeenPackage = SeenPackage {
    locked: true,
    unasked: true,
    admitted: true,
    of_the_offer: true,
    same_archive: true,
    has_executable: true,
};

/// A sound package that the lock file does not have.
const UNLOCKED: SeenPackage = SeenPackage { locked: false, of_the_offer: false, ..RIGHT };

/// Locked, but not the signed package that is offered.
const UNSIGNED: SeenPackage = SeenPackage { unasked: false, admitted: false, ..RIGHT };

/// Locked and signed; only the place knows the signature.
const SIGNED: SeenPackage = SeenPackage { unasked: false, ..RIGHT };

const KEEP: InstallStep = InstallStep::Keep(KnownHashes::Contents);
const LINK: InstallStep = InstallStep::Link(KnownHashes::Contents);
const KEEP_OFFER: InstallStep = InstallStep::Keep(KnownHashes::Offer);
const LINK_OFFER: InstallStep = InstallStep::Link(KnownHashes::Offer);

fn package(bytes: SeenPackage) -> SeenContents {
    SeenContents::Package(bytes)
}

/// The plans before the place was asked, if it cannot be reached, and if it offers the package that the lock file
/// names.
#[track_caller]
fn check(installed: SeenContents, cached: Option<SeenContents>, want: [InstallStep; 3]) {
    let answers = [
        PlaceAnswer::NotAsked(LockWrite::Write),
        PlaceAnswer::Unreachable,
        PlaceAnswer::Offer { named: true, vouched: true },
    ];
    let got = answers.map(|answer| plan(&StepFacts { installed, cached, unlocked: CachePolicy::Refused, answer }));
    assert_eq!(got, want);
}

/// The plan with a cache that may break the lock file, if nothing is locked.
#[track_caller]
fn check_unlocked(cached: SeenContents, vouched: bool, want: InstallStep) {
    let answer = PlaceAnswer::Offer { named: false, vouched };
    let seen =
        StepFacts { installed: SeenContents::Nothing, cached: Some(cached), unlocked: CachePolicy::Used, answer };
    assert_eq!(plan(&seen), want);
    assert_eq!(
        plan(&StepFacts { answer: PlaceAnswer::NotAsked(LockWrite::Write), ..seen }),
        InstallStep::Fetch,
        "the place is asked first"
    );
    assert_eq!(
        plan(&StepFacts { unlocked: CachePolicy::Refused, ..seen }),
        InstallStep::Fetch,
        "no cache may do so unasked"
    );
}

#[test]
fn if_the_lock_file_stays_a_locked_package_is_kept_without_a_request() {
    for (installed, want) in [
        (SeenContents::Nothing, InstallStep::Fetch),
        (SeenContents::Other, InstallStep::Fetch),
        (package(UNLOCKED), InstallStep::Fetch),
        (package(RIGHT), KEEP),
        (package(SIGNED), InstallStep::Fetch),
    ] {
        let answer = PlaceAnswer::NotAsked(LockWrite::Compare);
        assert_eq!(
            plan(&StepFacts { installed, cached: None, unlocked: CachePolicy::Refused, answer }),
            want,
            "{installed:?}"
        );
    }
}

#[test]
fn without_a_cache_the_place_is_asked_and_a_locked_package_stays() {
    use InstallStep::Fetch;
    for (installed, want) in [
        (SeenContents::Nothing, [Fetch, Fetch, Fetch]),
        (SeenContents::Other, [Fetch, Fetch, Fetch]),
        (package(UNLOCKED), [Fetch, Fetch, Fetch]),
        (package(RIGHT), [Fetch, KEEP, KEEP_OFFER]),
        (package(SIGNED), [Fetch, Fetch, KEEP_OFFER]),
        (package(UNSIGNED), [Fetch, Fetch, Fetch]),
        // Another archive of the same files, in a mirror of archives.
        (package(SeenPackage { same_archive: false, ..RIGHT }), [Fetch, KEEP, Fetch]),
    ] {
        check(installed, None, want);
    }
}

#[test]
fn with_a_cache_what_is_locked_is_used_unasked() {
    use InstallStep::Fetch;
    let (nothing, right) = (SeenContents::Nothing, package(RIGHT));
    for (installed, cached, want) in [
        (nothing, nothing, [Fetch, Fetch, Fetch]),
        (nothing, right, [LINK, Fetch, LINK_OFFER]),
        (SeenContents::Other, right, [LINK, Fetch, LINK_OFFER]),
        (package(UNLOCKED), right, [LINK, Fetch, LINK_OFFER]),
        (right, right, [KEEP, KEEP, KEEP_OFFER]),
        // The installed package is not a link to what lies in the cache now.
        (right, SeenContents::Other, [KEEP, KEEP, KEEP_OFFER]),
        (right, package(UNLOCKED), [KEEP, KEEP, KEEP_OFFER]),
        // An empty cache is filled: the place is asked.
        (right, nothing, [Fetch, KEEP, KEEP_OFFER]),
        (nothing, package(UNLOCKED), [Fetch, Fetch, Fetch]),
        (nothing, SeenContents::Other, [Fetch, Fetch, Fetch]),
    ] {
        check(installed, Some(cached), want);
    }
}

#[test]
fn where_signatures_are_asked_for_the_place_is_asked_and_the_bytes_must_be_covered() {
    use InstallStep::Fetch;
    for (installed, cached, want) in [
        (SeenContents::Nothing, SIGNED, [Fetch, Fetch, LINK_OFFER]),
        (SeenContents::Nothing, UNSIGNED, [Fetch, Fetch, Fetch]),
        (package(SIGNED), SIGNED, [Fetch, Fetch, KEEP_OFFER]),
        (package(UNSIGNED), SIGNED, [Fetch, Fetch, LINK_OFFER]),
        (package(SIGNED), UNSIGNED, [Fetch, Fetch, KEEP_OFFER]),
        (package(UNSIGNED), UNSIGNED, [Fetch, Fetch, Fetch]),
    ] {
        check(installed, Some(package(cached)), want);
    }
}

#[test]
fn an_offer_that_the_lock_file_does_not_name_is_fetched_unless_a_signature_names_the_contents() {
    let seen = |installed, cached, of_the_offer| StepFacts {
        installed,
        cached: Some(package(SeenPackage { of_the_offer, ..cached })),
        unlocked: CachePolicy::Refused,
        answer: PlaceAnswer::Offer { named: false, vouched: true },
    };
    assert_eq!(plan(&seen(package(RIGHT), RIGHT, false)), InstallStep::Fetch);
    assert_eq!(plan(&seen(package(RIGHT), RIGHT, true)), LINK_OFFER);
    assert_eq!(plan(&seen(SeenContents::Nothing, UNSIGNED, true)), InstallStep::Fetch);
}

#[test]
fn a_cache_that_may_break_the_lock_file_is_used_for_sound_packages() {
    for (cached, want) in [
        (SeenContents::Nothing, InstallStep::Fetch),
        (SeenContents::Other, InstallStep::Fetch),
        (package(UNLOCKED), LINK),
        (package(SeenPackage { has_executable: false, ..UNLOCKED }), InstallStep::Fetch),
        (package(SeenPackage { admitted: false, ..UNLOCKED }), InstallStep::Fetch),
    ] {
        check_unlocked(cached, false, want);
        // What a signature covers is recorded, too.
        check_unlocked(cached, true, if want == LINK { LINK_OFFER } else { want });
    }
}

/// Every value of everything that is known.
fn all() -> impl Iterator<Item = StepFacts> {
    let contents = |bits: u8| match bits {
        64 => SeenContents::Nothing,
        65 => SeenContents::Other,
        bits => {
            let bit = |nth: u8| bits >> nth & 1 == 1;
            package(SeenPackage {
                locked: bit(0),
                unasked: bit(1),
                admitted: bit(2),
                of_the_offer: bit(3),
                same_archive: bit(4),
                has_executable: bit(5),
            })
        }
    };
    let offer = |named, vouched| PlaceAnswer::Offer { named, vouched };
    let answers = [
        PlaceAnswer::NotAsked(LockWrite::Write),
        PlaceAnswer::NotAsked(LockWrite::Compare),
        PlaceAnswer::Unreachable,
        offer(false, false),
        offer(false, true),
        offer(true, false),
        offer(true, true),
    ];
    let places = move || (0..66).map(contents);
    let pairs = places().flat_map(move |installed| {
        std::iter::once(None).chain(places().map(Some)).map(move |cached| (installed, cached))
    });
    pairs.flat_map(move |(installed, cached)| {
        answers.into_iter().flat_map(move |answer| {
            [CachePolicy::Refused, CachePolicy::Used].map(|unlocked| StepFacts { installed, cached, unlocked, answer })
        })
    })
}

#[test]
fn no_bytes_are_used_unfetched_that_neither_the_lock_file_nor_a_signature_admits() {
    let mut used = 0;
    for seen in all() {
        let (contents, cached) = match plan(&seen) {
            InstallStep::Fetch => continue,
            InstallStep::Keep(_) => (seen.installed, false),
            InstallStep::Link(_) => (seen.cached.expect("a link leads to the cache"), true),
        };
        let SeenContents::Package(bytes) = contents else { panic!("no package is used: {seen:?}") };
        let may_break = cached && seen.unlocked == CachePolicy::Used && bytes.has_executable;
        assert!(bytes.locked || may_break, "it is locked, or need not be: {seen:?}");
        match seen.answer {
            PlaceAnswer::NotAsked(write) => {
                assert!(bytes.locked && bytes.unasked, "{seen:?}");
                assert!(seen.cached.is_some() || write == LockWrite::Compare, "{seen:?}");
            }
            PlaceAnswer::Unreachable => assert!(bytes.locked && bytes.unasked && !cached, "{seen:?}"),
            PlaceAnswer::Offer { .. } => assert!(bytes.admitted, "a signature admits it: {seen:?}"),
        }
        used += 1;
    }
    assert!(used > 1000, "{used}");
}

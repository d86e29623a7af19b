use super::*;

/// The package that was locked, in every respect the offered one.
const RIGHT: Bytes =
    Bytes { locked: true, unasked: true, admitted: true, of_the_offer: true, same_archive: true, has_executable: true };

/// A sound package that the lock file does not have.
const UNLOCKED: Bytes = Bytes { locked: false, of_the_offer: false, ..RIGHT };

/// Locked, and no signature covers it although one stands for the offered package.
const UNSIGNED: Bytes = Bytes { unasked: false, admitted: false, ..RIGHT };

/// Locked and signed; only the place can tell that.
const SIGNED: Bytes = Bytes { unasked: false, ..RIGHT };

const KEEP: Step = Step::Keep(KnownBy::Contents);
const LINK: Step = Step::Link(KnownBy::Contents);
const KEEP_OFFER: Step = Step::Keep(KnownBy::Offer);
const LINK_OFFER: Step = Step::Link(KnownBy::Offer);

fn package(bytes: Bytes) -> Contents {
    Contents::Package(bytes)
}

/// What is planned before the place was asked, when it could not be reached, and when it offers the package that the lock
/// file names.
#[track_caller]
fn check(installed: Contents, cached: Option<Contents>, want: [Step; 3]) {
    let answers = [Answer::NotAsked, Answer::Unreachable, Answer::Offer { named: true, vouched: true }];
    let got = answers.map(|answer| plan(&Seen { installed, cached, unlocked: Unlocked::Refused, answer }));
    assert_eq!(got, want);
}

/// What is planned with a cache that may break the lock file, of which nothing is locked.
#[track_caller]
fn check_unlocked(cached: Contents, vouched: bool, want: Step) {
    let answer = Answer::Offer { named: false, vouched };
    let seen = Seen { installed: Contents::Nothing, cached: Some(cached), unlocked: Unlocked::Used, answer };
    assert_eq!(plan(&seen), want);
    assert_eq!(plan(&Seen { answer: Answer::NotAsked, ..seen }), Step::Fetch, "the place is asked first");
    assert_eq!(plan(&Seen { unlocked: Unlocked::Refused, ..seen }), Step::Fetch, "no cache may do so unasked");
}

#[test]
fn without_a_cache_the_place_is_asked_and_a_locked_package_stays() {
    use Step::Fetch;
    for (installed, want) in [
        (Contents::Nothing, [Fetch, Fetch, Fetch]),
        (Contents::Other, [Fetch, Fetch, Fetch]),
        (package(UNLOCKED), [Fetch, Fetch, Fetch]),
        (package(RIGHT), [Fetch, KEEP, KEEP_OFFER]),
        (package(SIGNED), [Fetch, Fetch, KEEP_OFFER]),
        (package(UNSIGNED), [Fetch, Fetch, Fetch]),
        // Another archive of the same files, in a mirror of archives.
        (package(Bytes { same_archive: false, ..RIGHT }), [Fetch, KEEP, Fetch]),
    ] {
        check(installed, None, want);
    }
}

#[test]
fn with_a_cache_what_is_locked_is_used_unasked() {
    use Step::Fetch;
    let (nothing, right) = (Contents::Nothing, package(RIGHT));
    for (installed, cached, want) in [
        (nothing, nothing, [Fetch, Fetch, Fetch]),
        (nothing, right, [LINK, Fetch, LINK_OFFER]),
        (Contents::Other, right, [LINK, Fetch, LINK_OFFER]),
        (package(UNLOCKED), right, [LINK, Fetch, LINK_OFFER]),
        (right, right, [KEEP, KEEP, KEEP_OFFER]),
        // The installed package is no link to what lies in the cache now.
        (right, Contents::Other, [KEEP, KEEP, KEEP_OFFER]),
        (right, package(UNLOCKED), [KEEP, KEEP, KEEP_OFFER]),
        // An empty cache is filled: the place is asked.
        (right, nothing, [Fetch, KEEP, KEEP_OFFER]),
        (nothing, package(UNLOCKED), [Fetch, Fetch, Fetch]),
        (nothing, Contents::Other, [Fetch, Fetch, Fetch]),
    ] {
        check(installed, Some(cached), want);
    }
}

#[test]
fn where_signatures_are_asked_for_the_place_is_asked_and_the_bytes_must_be_covered() {
    use Step::Fetch;
    for (installed, cached, want) in [
        (Contents::Nothing, SIGNED, [Fetch, Fetch, LINK_OFFER]),
        (Contents::Nothing, UNSIGNED, [Fetch, Fetch, Fetch]),
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
    let seen = |installed, cached, of_the_offer| Seen {
        installed,
        cached: Some(package(Bytes { of_the_offer, ..cached })),
        unlocked: Unlocked::Refused,
        answer: Answer::Offer { named: false, vouched: true },
    };
    assert_eq!(plan(&seen(package(RIGHT), RIGHT, false)), Step::Fetch);
    assert_eq!(plan(&seen(package(RIGHT), RIGHT, true)), LINK_OFFER);
    assert_eq!(plan(&seen(Contents::Nothing, UNSIGNED, true)), Step::Fetch);
}

#[test]
fn a_cache_that_may_break_the_lock_file_is_used_for_sound_packages() {
    for (cached, want) in [
        (Contents::Nothing, Step::Fetch),
        (Contents::Other, Step::Fetch),
        (package(UNLOCKED), LINK),
        (package(Bytes { has_executable: false, ..UNLOCKED }), Step::Fetch),
        (package(Bytes { admitted: false, ..UNLOCKED }), Step::Fetch),
    ] {
        check_unlocked(cached, false, want);
        // What a signature stands for is recorded, too.
        check_unlocked(cached, true, if want == LINK { LINK_OFFER } else { want });
    }
}

/// Every value of everything that is known.
fn all() -> impl Iterator<Item = Seen> {
    let contents = |bits: u8| match bits {
        64 => Contents::Nothing,
        65 => Contents::Other,
        bits => {
            let bit = |nth: u8| bits >> nth & 1 == 1;
            package(Bytes {
                locked: bit(0),
                unasked: bit(1),
                admitted: bit(2),
                of_the_offer: bit(3),
                same_archive: bit(4),
                has_executable: bit(5),
            })
        }
    };
    let offer = |named, vouched| Answer::Offer { named, vouched };
    let answers = [
        Answer::NotAsked,
        Answer::Unreachable,
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
            [Unlocked::Refused, Unlocked::Used].map(|unlocked| Seen { installed, cached, unlocked, answer })
        })
    })
}

#[test]
fn no_bytes_are_used_unfetched_that_neither_the_lock_file_nor_a_signature_admits() {
    let mut used = 0;
    for seen in all() {
        let (contents, cached) = match plan(&seen) {
            Step::Fetch => continue,
            Step::Keep(_) => (seen.installed, false),
            Step::Link(_) => (seen.cached.expect("a link leads to the cache"), true),
        };
        let Contents::Package(bytes) = contents else { panic!("no package is used: {seen:?}") };
        let may_break = cached && seen.unlocked == Unlocked::Used && bytes.has_executable;
        assert!(bytes.locked || may_break, "it is locked, or need not be: {seen:?}");
        match seen.answer {
            Answer::NotAsked => assert!(bytes.locked && bytes.unasked && seen.cached.is_some(), "{seen:?}"),
            Answer::Unreachable => assert!(bytes.locked && bytes.unasked && !cached, "{seen:?}"),
            Answer::Offer { .. } => assert!(bytes.admitted, "a signature admits it: {seen:?}"),
        }
        used += 1;
    }
    assert!(used > 1000, "{used}");
}

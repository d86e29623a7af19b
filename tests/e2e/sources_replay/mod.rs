//! The measured cases of how `OpenTofu` reads its CLI configuration, combines methods and uses the lock file, replayed with
//! the built program.
//!
//! ```text
//! case --scene--> files, environment, lock file, cache, servers --tofu-oci install--> Run --judge--> a column
//!   \--measured, or one of the differences------------------------------------------------/
//! ```
//!
//! Exit code, what is installed, the repository that sent it and the whole lock file are compared. `OpenTofu` refuses with
//! exit code 1; the program with 1, 2 or 3, and the code of its error must be of the measured class. The two columns are
//! kept in a snapshot, with the exit code of every case. `TOFU_OCI_CASES=WORD` runs the cases with WORD in their name.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod case;
mod differences;
mod documented;
mod faults;
mod lock_text;
mod outcome;
mod own;
mod packages;
mod release;
mod scene;
mod tally;
mod web_places;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use differences::{DIFFERENCES, Difference, Ours};
use insta::assert_snapshot;
use outcome::Wanted;
use scene::{Run, Scene};
use serde_json::Value;
use tally::Tally;
use tofu_oci_vectors::{Vectors, panic_message};

/// So many cases run at once; half of the time they wait.
const AT_ONCE: usize = 6;

/// Where a case belongs.
enum Column {
    /// All is as measured.
    Same,
    /// All is as a decision says.
    Intended(&'static str),
}

/// A case that has been run and compared.
struct Judged {
    column: Column,
    run: Run,
}

/// Runs and compares all cases, some at once, in the order of the file.
fn judge_all(cases: &[Value]) -> Vec<Result<Judged, String>> {
    // Cases that wait for a silent server begin first.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|nth| !cases[*nth]["offers"].to_string().contains("\"timeout\""));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(nth) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let judged = catch_unwind(AssertUnwindSafe(|| judge(&cases[*nth])));
                    // An unknown word of one case must not hide the others.
                    let judged = judged.unwrap_or_else(|panic| Err(panic_message(panic.as_ref()).to_owned()));
                    done.lock().unwrap().insert(*nth, judged);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// Runs a case and says where it belongs.
///
/// # Errors
/// What is neither as measured nor as decided.
fn judge(raw: &Value) -> Result<Judged, String> {
    let scene = Scene::new(raw)?;
    let run = scene.run()?;
    let told = |what: String| format!("{what}\n    {:?}\n    {}", run.arguments, run.stderr.replace('\n', "\n    "));
    if run.exit != Some(0) && run.before != run.after {
        return Err(told("it failed, and left something behind".to_owned()));
    }
    let alternatives = scene.case.expected()?;
    let expected = &alternatives[0];
    let measured = alternatives.iter().filter(|one| one.config_error.is_none() && one.exit.is_none());
    let measured: Vec<Wanted> =
        measured.map(|one| Wanted::measured(&scene, &run.before, one)).collect::<Result<_, _>>()?;
    let is_same = measured.iter().any(|wanted| wanted.differs_from(&run).is_empty());

    let column = if let Some((difference, ours)) = decided(&scene.case.name) {
        if is_same {
            return Err(told(format!("{} decides otherwise, and it came as measured", difference.name)));
        }
        let other = Wanted::ours(&scene, &run.before, ours).differs_from(&run);
        if !other.is_empty() {
            return Err(told(format!("not as decided by {}:{other}", difference.name)));
        }
        Column::Intended(difference.name)
    } else if is_same {
        Column::Same
    } else if let Some(code) = &expected.config_error {
        let other = Wanted::stops(&run.before, code).differs_from(&run);
        if !other.is_empty() || run.connections > 0 {
            return Err(told(format!(
                "an error of the configuration stops, before any of {} connections:{other}",
                run.connections
            )));
        }
        Column::Intended(tally::ERRORS_STOP)
    } else {
        let other = measured.first().map(|wanted| wanted.differs_from(&run));
        return Err(told(format!("other than measured:{}", other.unwrap_or_default())));
    };
    Ok(Judged { column, run })
}

/// The decision about a case, if there is one.
fn decided(name: &str) -> Option<(&'static Difference, &'static Ours)> {
    let all = DIFFERENCES.iter().flat_map(|difference| difference.outcomes.iter().map(move |ours| (difference, ours)));
    all.into_iter().find(|(_, ours)| ours.cases.contains(&name))
}

#[test]
#[expect(clippy::too_many_lines, reason = "there are many cases")]
fn every_measured_case_comes_out_as_measured_or_as_decided() {
    let start = Instant::now();
    let table = Vectors::open(case::FILE);
    table.known_sections(&["cases"]);
    let mut cases = table.cases("cases").to_vec();
    let only = std::env::var("TOFU_OCI_CASES").ok();
    if let Some(only) = &only {
        cases.retain(|case| case::name(case).contains(only));
    }
    let mut tally = Tally::default();
    for (case, judged) in cases.iter().zip(judge_all(&cases)) {
        tally.add(case, judged);
    }
    println!("{tally}\nin {} s", start.elapsed().as_secs());
    assert!(tally.bad.is_empty(), "{} are other than measured\n{}", tally.bad.len(), tally.bad.join("\n"));
    // Other cases of the same kind have columns of their own.
    if only.is_none() && table.is_own() {
        assert_snapshot!(tally.to_string(), @"
        all: 2 same, 0 intended differences
        alone: 10 same, 0 intended differences
        both: 2 same, 0 intended differences
        command: 0 same, 3 intended differences
        config: 64 same, 47 intended differences
        fail: 124 same, 3 intended differences
        include: 31 same, 18 intended differences
        lock: 96 same, 31 intended differences
        net: 9 same, 3 intended differences
        pair: 43 same, 0 intended differences
        plat: 13 same, 0 intended differences
        retry: 3 same, 0 intended differences
        shape: 5 same, 0 intended differences
        template: 39 same, 62 intended differences
        union: 3 same, 0 intended differences
        611 cases: 444 same, 167 intended differences
        intended, ch-alone-binds, exit 1 lock-mismatch: lock-cache-empty-ch-only, lock-cache-full-ch-only, lock-direct-ch-only, lock-fs-packed-ch-only, lock-oci-ch-only
        intended, ch-lines-stay, exit 0: lock-cache-empty-ch-and-zh, lock-cache-full-ch-and-zh, lock-direct-ch-and-h1, lock-direct-ch-and-zh, lock-fs-packed-ch-and-h1, lock-fs-packed-ch-and-zh, lock-net-ch-and-h1, lock-net-ch-and-zh, lock-oci-ch-and-zh
        intended, digests-are-computed, exit 0: fail-oci-broken-no-digest-header-then-fs
        intended, errors-stop, exit 2 block-equals: cfg-block-equals, cfg-json-array-empty, cfg-json-null, cfg-json-string
        intended, errors-stop, exit 2 cli-config-missing: cfg-env-missing-file, cfg-env-missing-file-terraform-config, cfg-env-tilde
        intended, errors-stop, exit 2 cli-config-unreadable: cfg-env-directory
        intended, errors-stop, exit 2 decode: cfg-trust-arg-string, tpl-bare-list, tpl-include-string
        intended, errors-stop, exit 2 dev-overrides-address: cfg-dev-bad-address
        intended, errors-stop, exit 2 dev-overrides-order: cfg-dev-after-oci
        intended, errors-stop, exit 2 exclude-pattern: inc-bad-exclude
        intended, errors-stop, exit 2 hcl1-parse: cfg-dir-bad-file-among, cfg-hcl2-bare-word-value, cfg-hcl2-function, cfg-hcl2-list-for, cfg-json-comment, cfg-json-syntax-error, cfg-missing-brace, cfg-single-quotes, cfg-wrong-type-top, tpl-directive-if-plain, tpl-syntax-unclosed, tpl-template-twice
        intended, errors-stop, exit 2 hcl:function-calls-not-allowed: tpl-function-format, tpl-function-on-constant, tpl-function-replace, tpl-function-unknown, tpl-function-upper
        intended, errors-stop, exit 2 hcl:invalid-character: tpl-conditional-escaped-quotes
        intended, errors-stop, exit 2 hcl:invalid-index: tpl-string-index
        intended, errors-stop, exit 2 hcl:invalid-operand: tpl-arithmetic, tpl-comparison-number
        intended, errors-stop, exit 2 hcl:invalid-template-interpolation-value: tpl-list-of-type-in-path, tpl-null-in-path
        intended, errors-stop, exit 2 hcl:unsupported-attribute: tpl-string-attr
        intended, errors-stop, exit 2 include-pattern: inc-bad-among-good, inc-bad-double-dash, inc-bad-empty, inc-bad-four, inc-bad-include-in-direct-only-direct, inc-bad-legacy-dash, inc-bad-one, inc-bad-partial-host, inc-bad-partial-type, inc-bad-star, inc-bad-trailing-slash, inc-bad-type-only-2, inc-bad-underscore, inc-bad-url, inc-punycode-pattern-unicode-provider
        intended, errors-stop, exit 2 invalid-host-label: cfg-bad-host-label
        intended, errors-stop, exit 2 invalid-repository-address: tpl-bad-only-for-example, tpl-blank, tpl-digest, tpl-escaped-dollar-2, tpl-fragment, tpl-heredoc, tpl-http-prefix, tpl-joined-2dots, tpl-leading-dash, tpl-leading-slash, tpl-leading-space, tpl-leading-underscore, tpl-newline-escape, tpl-oci-prefix, tpl-percent-literal, tpl-port-word, tpl-registry-slash, tpl-trailing-dash, tpl-trailing-dot, tpl-trailing-slash, tpl-trailing-space, tpl-unicode-literal, tpl-uppercase-path, tpl-userinfo
        intended, errors-stop, exit 2 method-not-block: cfg-attr-in-block, cfg-json-array-of-blocks, cfg-json-array-single, cfg-json-direct-with-args-object, cfg-json-fs-object, cfg-json-leading-newline, cfg-json-method-string, cfg-json-object, cfg-json-trailing-comma, cfg-method-equals
        intended, errors-stop, exit 2 mirror-url: net-url-bad-url, net-url-empty-host, net-url-no-scheme
        intended, errors-stop, exit 2 missing-hostname: tpl-escaped-dollar, tpl-include-empty-list, tpl-missing-hostname, tpl-only-oci-bad
        intended, errors-stop, exit 2 missing-namespace: tpl-missing-namespace, tpl-rfc6570-braces, tpl-two-namespaces
        intended, errors-stop, exit 2 missing-type: tpl-missing-type, tpl-two-types
        intended, errors-stop, exit 2 not-a-string: tpl-list, tpl-object
        intended, errors-stop, exit 2 plugin-cache-dir: lock-cache-missing-dir
        intended, errors-stop, exit 2 template-required: tpl-arg-misspelt, tpl-empty
        intended, errors-stop, exit 2 two-blocks: cfg-dir-and-tofurc-two-blocks, cfg-dir-two-files-two-blocks, cfg-json-two-methods-arrays-one-line-each, cfg-two-blocks-first-empty
        intended, errors-stop, exit 2 unknown-method: cfg-json-unknown-method-array, cfg-two-blocks-first-bad, cfg-unknown-method, cfg-unknown-method-only, cfg-uppercase-method
        intended, errors-stop, exit 2 unknown-symbol:bad: cfg-json-bad-template-array, inc-bad-include-and-unknown-symbol
        intended, errors-stop, exit 2 unknown-symbol:host: tpl-two-unknown-symbols
        intended, errors-stop, exit 2 unknown-symbol:version: tpl-unknown-symbol
        intended, folders-are-checked, exit 1 lock-mismatch: lock-fs-unpacked-ch-and-zh, lock-fs-unpacked-wrong-zh, lock-fs-unpacked-zh, lock-fs-unpacked-zh-other-platform
        intended, for-is-refused, exit 2 hcl:not-supported: tpl-directive-for, tpl-directive-for2, tpl-for-expression
        intended, h1-is-enough, exit 0: lock-cache-empty-ch-and-h1, lock-cache-empty-h1, lock-cache-empty-wrong-zh-right-h1, lock-cache-empty-zh-other-platform-h1, lock-made-by-fs-served-by-oci-same-bytes, lock-oci-ch-and-h1, lock-oci-zh-other-platform-h1, lock-upgrade-same-version-h1-only
        intended, lock-asks-the-methods, exit 0: cmd-providers-lock-not-at-origin, cmd-providers-lock-oci-flag-hcl-template
        intended, lock-asks-the-methods, exit 2 usage: cmd-providers-lock-oci-flag
        intended, misspelt-names-stop, exit 2 misspelt-name: cfg-implied-on-with-misspelt-block
        intended, nothing-required, exit 2 usage: inc-builtin-untouched
        intended, one-syntax-code, exit 2 hcl:invalid-syntax: tpl-syntax-two-words, tpl-syntax-unclosed-if
        intended, other-commands, exit 0: cfg-command-version-bad-include, cfg-command-version-syntax
        intended, other-commands, exit 2: cfg-command-fmt-missing, cfg-command-fmt-syntax, cfg-command-validate-syntax
        intended, ports-end-at-65535, exit 3 dns: tpl-port-99999
        intended, silence-ends, exit 3 timeout: fail-fs-ok-then-oci-hang
        intended, tags-are-canonical, exit 0: fail-oci-stray-tag-then-fs
        intended, unknown-schemes-stay, exit 0: lock-cache-full-unknown-h2, lock-direct-unknown-h2, lock-fs-unpacked-unknown-h2, lock-oci-uppercase-scheme
        same, exit 0: all-four-reverse, all-four-same, cfg-both-home-files, cfg-comments, cfg-crlf, cfg-cwd-tofurc-ignored, cfg-dev-beside-oci, cfg-dev-missing-dir, cfg-dev-other-provider, cfg-dir-read-with-terraformrc, cfg-dir-subdir-ignored, cfg-dir-tfrc, cfg-empty-file, cfg-env-any-name, cfg-env-both, cfg-env-dev-null, cfg-env-empty-string, cfg-env-ignores-home-and-dir, cfg-env-json-name-hcl-content, cfg-env-relative, cfg-env-relative-chdir, cfg-implied-chdir, cfg-implied-cwd, cfg-implied-flat-legacy, cfg-implied-home, cfg-implied-local-share, cfg-implied-local-share-opentofu, cfg-implied-off-with-block, cfg-implied-tofu-d, cfg-implied-xdg-data-dirs, cfg-implied-xdg-data-home-opentofu, cfg-implied-xdg-data-home-terraform, cfg-json-array-escaped-quotes, cfg-json-array-of-method, cfg-json-direct-only-array, cfg-json-fs-array, cfg-json-methods-as-arrays, cfg-json-methods-as-arrays-order, cfg-json-object-first-then-array, cfg-json-oci-object-direct-array, cfg-json-one-method-array, cfg-json-outer-array-inner-arrays, cfg-json-two-objects-one-array, cfg-method-quoted, cfg-none, cfg-one-line-args, cfg-one-line-args-comma, cfg-one-line-method, cfg-plugin-dir-flag, cfg-retry-arg-direct, cfg-terraform-rc-name-ignored, cfg-terraformrc, cfg-tofurc-dot-json, cfg-unknown-top-attr, cfg-unknown-top-block, cfg-xdg-and-terraformrc, cfg-xdg-dir-and-xdg-main, cfg-xdg-dir-tfrc, cfg-xdg-only, fail-direct-versions-404-then-oci, fail-excluded-mirror-not-asked, fail-fs-ok-then-oci-broken-descriptor-type, fail-fs-ok-then-oci-broken-index-type, fail-fs-ok-then-oci-broken-no-leaves, fail-fs-ok-then-oci-list-302, fail-fs-ok-then-oci-list-404, fail-fs-ok-then-oci-list-NAME_UNKNOWN, fail-fs-ok-then-oci-list-empty, fail-fs-ok-then-oci-list-null-tags, fail-fs-ok-then-oci-tag-401, fail-fs-ok-then-oci-tag-500, fail-net-index-302-then-oci, fail-net-index-404-then-oci, fail-oci-list-302-then-fs, fail-oci-list-403-NAME_UNKNOWN-then-fs, fail-oci-list-404-then-fs, fail-oci-list-NAME_INVALID-then-fs, fail-oci-list-NAME_UNKNOWN-then-fs, fail-oci-list-empty-then-fs, fail-oci-list-null-tags-then-fs, fail-oci-ok-direct-excluded-host-dns, fail-oci-ok-direct-excluded-host-tls, fail-oci-ok-then-fs-x-corrupt, fail-oci-ok-then-fs-x-empty-dir, fail-oci-ok-then-net-index-302, fail-oci-ok-then-net-index-404, fail-oci-only-origin-host-dns, fail-oci-only-origin-host-tls, fail-oci-ping-403-then-fs, inc-d-registry-terraform-io, inc-d-three-seg-default-host, inc-d-two-seg-exact, inc-d-two-seg-ns, inc-d-two-seg-wild, inc-direct-exclude-mirror-serves, inc-direct-first-then-oci, inc-direct-include-only-other, inc-direct-twice, inc-duplicate-pattern, inc-exclude-all-wild, inc-exclude-exact-include-wild, inc-exclude-other, inc-exclude-two-seg-other-host, inc-host-with-port-needs-port, inc-mixed-wild-and-exact, inc-newer-in-second-constraint-old, inc-order-turned, inc-p-all-three-wild, inc-p-case-folded, inc-p-host-wild, inc-p-ns-wild, inc-p-other-host, inc-p-other-ns, inc-p-other-type, inc-p-two-seg-exact, inc-p-two-seg-ns, inc-p-two-seg-wild, inc-specific-second-does-not-win, inc-unicode-pattern, lock-cache-empty-right-zh-wrong-h1, lock-cache-empty-zh, lock-cache-empty-zh-all, lock-cache-full-ch-and-h1, lock-cache-full-h1, lock-cache-full-no-lock, lock-cache-full-no-lock-may-break, lock-cache-full-none, lock-cache-full-none-may-break, lock-cache-full-right-zh-wrong-h1, lock-cache-full-unsorted-dups, lock-cache-full-zh, lock-cache-full-zh-all, lock-cache-full-zh-other-platform-h1, lock-cache-mirror-down-lock-kept, lock-constraint-conflict-upgrade, lock-direct-h1, lock-direct-h1-zh, lock-direct-none, lock-direct-right-zh-wrong-h1, lock-direct-unsorted-dups, lock-direct-wrong-zh-right-h1, lock-direct-zh, lock-direct-zh-all, lock-direct-zh-other-platform-h1, lock-fresh-fs, lock-fresh-net, lock-fs-packed-h1-zh, lock-fs-packed-right-zh-wrong-h1, lock-fs-packed-wrong-zh-right-h1, lock-fs-packed-zh, lock-fs-packed-zh-all, lock-fs-packed-zh-other-platform-h1, lock-fs-unpacked-h1, lock-fs-unpacked-h1-zh, lock-fs-unpacked-wrong-zh-right-h1, lock-made-by-net-served-by-oci-same-bytes, lock-net-h1, lock-net-h1-zh, lock-net-right-zh-wrong-h1, lock-net-unsorted-dups, lock-net-wrong-zh-right-h1, lock-net-zh, lock-net-zh-other-platform-h1, lock-none-oci-then-direct-same-version, lock-oci-h1-zh, lock-oci-none, lock-oci-unsorted-dups, lock-oci-zh-all, lock-older-kept, lock-readonly-bad-value, lock-readonly-zh, lock-readonly-zh-all, net-302-index, net-hashes-none-then-oci, net-hashes-zh-then-oci, net-trust-all-hashes, net-url-query, net-url-userinfo, pair-direct-fs-newer-first, pair-direct-fs-newer-second, pair-direct-fs-only-second, pair-direct-fs-same, pair-direct-net-newer-first, pair-direct-net-newer-second, pair-direct-net-only-second, pair-direct-net-same, pair-direct-oci-newer-second, pair-fs-direct-newer-second, pair-fs-direct-only-second, pair-fs-direct-same, pair-fs-net-newer-first, pair-fs-net-newer-second, pair-fs-net-only-second, pair-fs-net-same, pair-fs-oci-newer-first, pair-fs-oci-newer-second, pair-fs-oci-only-second, pair-fs-oci-same, pair-net-direct-same, pair-net-fs-same, pair-net-oci-newer-first, pair-net-oci-same, pair-oci-direct-newer-first, pair-oci-direct-pinned-to-mirrored, pair-oci-direct-same, pair-oci-excluded-for-rest, pair-oci-fs-newer-first, pair-oci-fs-older-locked, pair-oci-fs-same, pair-oci-net-newer-first, pair-oci-net-same, plat-direct-oci-newest-only-first-has-platform-second, plat-fs-oci-first-lacks-platform, plat-net-oci-first-lacks-platform, plat-oci-direct-first-lacks-platform, plat-oci-direct-newest-only-first-has-platform-second, plat-oci-net-first-lacks-platform, plat-oci-net-newest-only-first-has-platform-second, shape-disjoint-oci-first, shape-fs-first-overlay, shape-oci-last-missing, shape-two-oci-second-lacks-repo, tpl-all-symbols, tpl-empty-tag, tpl-hole-type, tpl-hole-wild-plus-literal, tpl-host-literal-allows-no-hostname, tpl-host-port-as-registry, tpl-host-port-not-used, tpl-joined-dash, tpl-joined-dot, tpl-long-name, tpl-map-colon-form, tpl-nested-template, tpl-number-in-path, tpl-port-empty, tpl-same-host-two-spellings, tpl-strip-markers, tpl-type-literal, tpl-unicode-hostname, tpl-unicode-parts-unused, tpl-unknown-arg, tpl-unknown-nested-block, tpl-uppercase-registry, tpl-whole-expression, union-constraint, union-metadata
        same, exit 1 archive-not-found: fail-direct-archive-404-then-oci, fail-net-archive-404-then-oci
        same, exit 1 artifact-type: fail-oci-broken-index-no-type-then-fs, fail-oci-broken-index-type-then-fs, fail-oci-broken-leaf-type-then-fs
        same, exit 1 bad-body: fail-direct-versions-bad-version-then-oci, fail-direct-versions-broken-json-then-oci, fail-fs-ok-then-oci-list-broken-json, fail-net-index-broken-json-then-oci, fail-net-version-broken-json-then-oci, fail-oci-list-html-then-fs, fail-oci-ok-then-direct-versions-bad-version, fail-oci-ok-then-direct-versions-broken-json, fail-oci-ok-then-net-index-broken-json
        same, exit 1 bad-content-type: fail-direct-discovery-html-then-oci, fail-net-index-html-then-oci, fail-oci-ok-then-net-index-html
        same, exit 1 bad-signature: fail-direct-broken-signature-then-oci
        same, exit 1 bad-status: fail-net-index-410-then-oci, fail-oci-ok-then-net-index-410
        same, exit 1 bad-zip: fail-net-archive-html-then-oci
        same, exit 1 blob-digest-mismatch: fail-oci-broken-blob-corrupt-then-fs
        same, exit 1 cache-modified: lock-cache-tampered-lock-kept, lock-installed-tampered
        same, exit 1 checksum-list: fail-direct-broken-shasum-then-oci
        same, exit 1 descriptor-platform-missing: fail-oci-broken-no-platform-then-fs
        same, exit 1 empty-repository: tpl-bare-number, tpl-bool, tpl-no-slash-word, tpl-number
        same, exit 1 fs-dir-missing: cfg-fs-path-env, cfg-fs-path-tilde, fail-fs-x-missing-dir-then-oci, fail-oci-ok-then-fs-x-missing-dir
        same, exit 1 invalid-repository-address: tpl-bad-only-for-real, tpl-host-port-in-path, tpl-unicode-provider-parts
        same, exit 1 lock-invalid: lock-no-version, lock-short-label, lock-unknown-attribute
        same, exit 1 lock-mismatch: lock-cache-empty-empty-value, lock-cache-empty-h1-other-platform, lock-cache-empty-wrong-both, lock-cache-empty-wrong-h1, lock-cache-empty-wrong-zh, lock-cache-empty-zh-other-platform, lock-cache-full-wrong-both, lock-cache-full-wrong-h1, lock-cache-full-wrong-zh, lock-direct-empty-value, lock-direct-h1-other-platform, lock-direct-wrong-both, lock-direct-wrong-h1, lock-direct-zh-other-platform, lock-fs-packed-empty-value, lock-fs-packed-wrong-both, lock-fs-unpacked-h1-other-platform, lock-fs-unpacked-right-zh-wrong-h1, lock-fs-unpacked-wrong-both, lock-fs-unpacked-wrong-h1, lock-made-by-direct-served-by-oci-other-bytes, lock-made-by-oci-served-by-direct-other-bytes, lock-mismatch-net-then-oci-right, lock-mismatch-oci-then-fs-right, lock-net-empty-value, lock-net-h1-other-platform, lock-net-wrong-h1, lock-net-zh-other-platform, lock-oci-empty-value, lock-oci-h1-other-platform, lock-oci-uppercase-hex-zh, lock-oci-wrong-h1, lock-oci-wrong-zh, lock-upgrade-same-version-wrong-hash
        same, exit 1 locked-version-conflict: lock-constraint-conflict
        same, exit 1 locked-version-gone: lock-version-gone
        same, exit 1 manifest-not-found: fail-oci-broken-manifest-missing-then-fs, fail-oci-manifest-404-then-fs
        same, exit 1 mirror-hash-mismatch: net-hashes-wrong-then-oci
        same, exit 1 mirror-hash-schemes: net-hashes-unknown-then-oci
        same, exit 1 mirror-version-missing: fail-net-version-404-then-oci, net-url-no-slash, pair-net-direct-newer-second, pair-net-direct-only-second, pair-net-fs-newer-second, pair-net-fs-only-second, pair-net-oci-newer-second, plat-oci-net-newest-lacks-platform-everywhere
        same, exit 1 no-matching-release: alone-oci-prerelease, cfg-implied-off-with-empty-block, cfg-json-empty-object
        same, exit 1 no-provider-manifest: fail-oci-broken-descriptor-type-then-fs, fail-oci-broken-no-leaves-then-fs
        same, exit 1 no-provider-service: fail-direct-discovery-404-then-oci, fail-oci-ok-then-direct-discovery-404, fail-oci-ok-then-direct-discovery-no-service
        same, exit 1 no-zip-layer: fail-oci-broken-layer-type-then-fs
        same, exit 1 not-an-index: fail-oci-broken-leaf-tagged-then-fs
        same, exit 1 platform-not-supported: alone-oci-other-platform, plat-oci-direct-newest-lacks-platform-everywhere, plat-oci-fs-newest-lacks-platform-everywhere, plat-only-darwin-everywhere-fs-oci
        same, exit 1 provider-not-found: alone-direct-empty, alone-fs-empty, alone-net-404, alone-net-empty, alone-oci-404-all, alone-oci-empty, alone-oci-name-unknown, cfg-dev-oci-lacks-it, net-oci-redirect-list
        same, exit 1 registry-provider-not-known: both-lack-it, both-lack-it-turned
        same, exit 1 registry-status:204: fail-oci-list-204-then-fs
        same, exit 1 registry-status:401: fail-oci-all-401-then-fs, fail-oci-list-401-NAME_UNKNOWN-then-fs, fail-oci-list-401-then-fs, fail-oci-tag-401-then-fs
        same, exit 1 registry-status:403: fail-fs-ok-then-oci-list-403, fail-oci-blob-403-then-fs, fail-oci-list-403-then-fs
        same, exit 1 registry-status:404: fail-fs-ok-then-oci-list-DENIED-404, fail-fs-ok-then-oci-list-MANIFEST_UNKNOWN, fail-oci-list-DENIED-404-then-fs, fail-oci-list-MANIFEST_UNKNOWN-then-fs
        same, exit 1 tag-not-found: cfg-json-array-and-object, cfg-json-array-and-object-exclude, fail-oci-only-odd-tags-then-fs, fail-oci-tag-404-then-fs, inc-newer-in-second, lock-locked-oci-lacks-direct-has, pair-oci-direct-newer-second, pair-oci-direct-newer-upstream, pair-oci-direct-only-second, pair-oci-fs-only-second, pair-oci-net-only-second, plat-direct-oci-newest-lacks-platform-everywhere, plat-fs-oci-newest-lacks-platform-everywhere, union-metadata-exact
        same, exit 1 template-eval: tpl-map-lookup-miss
        same, exit 1 template-null: tpl-null-by-condition, tpl-null-part-by-condition
        same, exit 1 token-server-status:401: fail-fs-ok-then-oci-all-401-bearer, fail-oci-all-401-bearer-then-fs
        same, exit 1 unauthorized: fail-direct-versions-403-then-oci, fail-net-index-401-then-oci, fail-oci-ok-then-direct-versions-401, fail-oci-ok-then-direct-versions-403, fail-oci-ok-then-net-index-401, fail-oci-ok-then-net-index-403
        same, exit 1 zero-version: alone-oci-zero-version
        same, exit 2 source-address: tpl-percent-encoded-type
        same, exit 3 connection-lost: fail-direct-discovery-reset-then-oci, fail-net-index-reset-then-oci, fail-oci-blob-reset-then-fs, fail-oci-list-reset-then-fs, fail-oci-ok-then-direct-discovery-reset, fail-oci-ok-then-net-index-reset
        same, exit 3 connection-refused: fail-fs-ok-then-oci-refused, fail-net-refused-then-oci, fail-oci-refused-locked-ok-fs, tpl-ipv4-port, tpl-ipv6
        same, exit 3 dns: tpl-ipv6-bare
        same, exit 3 registry-status:429: fail-fs-ok-then-oci-list-429, fail-oci-list-429-then-fs
        same, exit 3 registry-status:500: fail-fs-ok-then-oci-list-500, fail-oci-blob-500-then-fs, fail-oci-manifest-500-then-fs, fail-oci-tag-500-then-fs, retry-oci-blob-500
        same, exit 3 registry-status:503: fail-fs-ok-then-oci-list-503, fail-oci-list-503-then-fs
        same, exit 3 server-error: fail-direct-discovery-500-then-oci, fail-direct-download-500-then-oci, fail-net-index-500-then-oci, fail-net-index-503-then-oci, fail-net-version-500-then-oci, fail-oci-ok-then-direct-discovery-500, fail-oci-ok-then-direct-versions-500, fail-oci-ok-then-net-index-503, retry-net-archive-500-count-0, retry-net-archive-500-env-1, shape-oci-last-direct-down
        same, exit 3 timeout: fail-net-hang-then-oci
        same, exit 3 tls: fail-fs-ok-then-oci-tls, fail-net-tls-then-oci, fail-oci-tls-locked-ok-fs, fail-oci-tls-then-fs
        same, exit 3 unreachable: fail-direct-host-dns-then-oci, fail-fs-ok-then-oci-dns, fail-net-dns-then-oci, fail-oci-dns-locked-ok-fs, fail-oci-dns-then-fs, fail-oci-ok-then-direct-host-dns, tpl-docker-io, tpl-single-word-registry
        ");
    }
}

#[test]
fn every_case_has_a_name_of_its_own_and_every_decision_has_cases() {
    let table = Vectors::own(case::FILE);
    let all = table.cases("cases");
    let names: BTreeSet<&str> = all.iter().map(case::name).collect();
    assert_eq!(names.len(), all.len(), "a name stands twice");
    let mut seen = BTreeSet::new();
    for difference in DIFFERENCES {
        let cases: Vec<&str> = difference.outcomes.iter().flat_map(|ours| ours.cases).copied().collect();
        assert!(!cases.is_empty(), "{} is about nothing", difference.name);
        for case in cases {
            assert!(names.contains(case), "{} is about {case}, which is not there", difference.name);
            assert!(seen.insert(case), "{case} is decided twice");
        }
    }
}

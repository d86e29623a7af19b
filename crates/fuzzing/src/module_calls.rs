//! Calls of modules, rewritten: the new text reads back as what was meant, and only the sources in it have changed. The first
//! byte chooses between a `.tf` and a `.tf.json` file, the rest is its text.

use std::fs;
use std::ops::Range;
use std::path::Path;

use tofu_oci_tfconfig::{CallFile, CallSource, PinnedSource, SourceCall, module_calls};
use tofu_oci_types::{Digest, Reference};

use crate::input::with_folder;
use crate::seeds;

/// Pins each call of the file.
pub fn run(bytes: &[u8]) {
    with_folder("module_calls", |folder| pin(folder, bytes));
}

fn pin(folder: &Path, bytes: &[u8]) {
    let Some((kind, text)) = bytes.split_first() else { return };
    let names = ["main.tf", "main.tf.json"];
    for name in names {
        let _ = fs::remove_file(folder.join(name));
    }
    let path = folder.join(names[usize::from(kind % 2)]);
    fs::write(&path, text).expect("a file is written");
    let read = || module_calls(folder, &folder.join(".terraform"));
    let files = match read() {
        Ok(files) => files,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let [file] = &files[..] else { return assert!(files.is_empty()) };
    let digest = Digest::sha256(b"package");
    let pinned = |source: &CallSource| {
        matches!(source, CallSource::Oci(..)).then(|| PinnedSource { digest: digest.clone(), note: None })
    };
    let pins: Vec<Option<PinnedSource>> = file.calls().iter().map(|call| pinned(&call.source)).collect();
    // What would not read back is refused.
    let Ok(Some(write)) = file.pinned(&pins) else { return };
    only_sources_differ(file, write.after());
    fs::write(&path, write.after()).expect("a file is written");
    let again = read().expect("what was written is read");
    let calls = again.iter().flat_map(CallFile::calls);
    assert_eq!(calls.clone().count(), pins.len());
    for (call, pin) in calls.zip(&pins) {
        if let (CallSource::Oci(source, _), Some(pin)) = (&call.source, pin) {
            assert_eq!(*source.reference(), Reference::Digest(pin.digest.clone()));
        }
    }
}

fn only_sources_differ(file: &CallFile, after: &str) {
    let pinned = file.calls().iter().filter(|call| matches!(call.source, CallSource::Oci(..)));
    let spans: Vec<Range<usize>> = pinned.map(SourceCall::span).collect();
    let (mut rest, mut at) = (after, 0);
    for span in spans {
        let kept = &file.text()[at..span.start];
        let Some(after) = rest.strip_prefix(kept) else { panic!("{kept:?} is not in {after:?}") };
        at = span.end;
        let next = &file.text()[at..];
        let next = next.char_indices().nth(1).map_or(next, |(end, _)| &next[..end]);
        // The source ends with a quote, and so does what replaces it.
        let end = after.char_indices().skip(1).find(|(end, one)| *one == '"' && after[end + 1..].starts_with(next));
        rest = end.map_or("", |(end, _)| &after[end + 1..]);
    }
    assert_eq!(rest, &file.text()[at..], "the end of {after:?}");
}

/// Calls of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> =
        seeds::contents("configurations", ".tf").into_iter().map(|text| [&[0][..], &text].concat()).collect();
    found.extend(seeds::of([
        "\0module \"a\" {\n  source = \"oci://ghcr.io/acme/network//sub?tag=1.0.0\" # 1.0.0\n}\nmodule \"b\" {\n  source = (\"oci://ghcr.io/acme/b\")\n}\n",
        "\0module \"a\" {\n  source = \"oci://ghcr.io/acme/n$${x}?tag=%31#f\" // ~> 1.0\n  version = \"x\"\n}\n",
        "\x01{\"module\":{\"a\":{\"//\":\"1.0.0\",\"source\":\"oci://ghcr.io/acme/network?tag=1.0.0\"},\"b\":[{\"source\":\"oci://ghcr.io/acme/b\"}]}}",
        "\0\u{feff}module \"a\" {\n  source = \"../a\"\n}\n",
    ]));
    found
}

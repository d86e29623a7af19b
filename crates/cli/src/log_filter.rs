//! Which log lines go to stderr: `-v`, and what `TOFU_OCI_LOG` asks for.

use tracing_subscriber::filter::{LevelFilter, Targets};

use crate::diagnostic::Diagnostic;

/// The crates of this program, without `tofu_oci_`.
const OWN: [&str; 25] = [
    "archive",
    "bridge",
    "checker",
    "cli",
    "credentials",
    "disk",
    "docs",
    "explain",
    "fault",
    "fetch",
    "hcl",
    "http",
    "installer",
    "layout",
    "lockfile",
    "logins",
    "mapper",
    "mirror",
    "packer",
    "remote",
    "source",
    "store",
    "tfconfig",
    "trust",
    "types",
];

/// Other crates that write log lines.
const OTHERS: [&str; 8] =
    ["h2", "hyper", "hyper_util", "reqwest", "rustls", "rustls_platform_verifier", "sigstore_tsa", "sigstore_verify"];

/// What `-v`, given so many times, shows; or what the variable asks for.
pub(crate) fn log_filter(verbose: u8, asked: Option<&str>) -> Result<Targets, Diagnostic> {
    let default = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let Some(asked) = asked else { return Ok(Targets::new().with_target("tofu_oci", default)) };
    let refused = |cause: String| {
        Diagnostic::usage(format!("TOFU_OCI_LOG cannot be `{asked}`"))
            .cause(cause)
            .hint("write a level, or levels of parts, such as debug or off,tofu_oci_remote=trace; or unset it")
    };
    let filter = asked.parse::<Targets>().map_err(|error| refused(error.to_string()))?;
    match filter.iter().find(|(target, _)| !is_known(target)) {
        Some((target, _)) => Err(refused(format!("`{target}` is neither a level nor a part that writes log lines"))),
        None => Ok(filter),
    }
}

/// Whether a part has this name, or one that begins with it: that is how a filter compares them.
fn is_known(target: &str) -> bool {
    let (name, is_within) = match target.split_once("::") {
        Some((name, _)) => (name, true),
        None => (target, false),
    };
    let is_meant = |part: &str| if is_within { part == name } else { part.starts_with(name) };
    OWN.iter().any(|part| is_meant(&format!("tofu_oci_{part}"))) || OTHERS.iter().any(|part| is_meant(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: &str, wrong: Option<&str>) {
        let refused = log_filter(0, Some(asked)).err().map(|diagnostic| diagnostic.causes().join(" "));
        assert_eq!(refused.is_some(), wrong.is_some(), "{asked}: {refused:?}");
        if let (Some(text), Some(wrong)) = (refused, wrong) {
            assert!(text.contains(wrong), "{text}");
        }
    }

    #[test]
    fn a_misspelt_level_or_part_was_silent() {
        for right in
            ["debug", "tofu_oci=debug", "off,tofu_oci_remote=trace", "tofu_oci_http::retry=trace", "hyper=info"]
        {
            check(right, None);
        }
        for (wrong, part) in [("debgu", "debgu"), ("remote=trace", "remote"), ("tofu_oci_remotes=trace", "remotes")] {
            check(wrong, Some(part));
        }
        check("tofu-oci=debug", Some("`tofu-oci`"));
    }

    #[test]
    fn every_crate_is_named() {
        let crates = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the crates");
        let mut names: Vec<String> =
            crates.map(|one| one.expect("a folder").file_name().to_string_lossy().into_owned()).collect();
        // Without those of tests.
        names.retain(|name| !["fuzzing", "testkit", "vectors"].contains(&name.as_str()));
        names.sort();
        assert_eq!(names, OWN);
    }
}

//! What is told of a release, for people.

use tofu_oci_trust::{Examined, Form, RuleOrigin, Standing, Unsigned, Verdict};
use tofu_oci_types::Level;

use super::model::{Accepted, Verified};
use super::pin_text;
use crate::printer::row;

impl Verified<'_> {
    /// Everything, for people; foreign text cannot move the cursor.
    pub(super) fn text(&self, verdict: &Verdict) -> String {
        let release = &self.found.release;
        let mut text = format!("{} {}\n", release.address, release.version);
        let mut say = |name: &str, told: &str| text.push_str(&row("  ", name, told));
        say("place", &self.found.tagged());
        say("index", release.index.digest.as_str());
        say("rule", &self.rule_text());
        if let Some(pin) = self.pin {
            say("pinned", &pin_text(pin));
        }
        if verdict.examined.is_empty() {
            say("found", "no signature");
        }
        for examined in &verdict.examined {
            say("found", &found(examined));
        }
        if let Some(covered) = self.coverage(verdict) {
            say("covered", &covered);
        }
        for remark in &verdict.remarks {
            let level = match remark.level {
                Level::Note => "note",
                Level::Warning => "warning",
            };
            say(level, &remark.text);
        }
        if let Accepted::Yes { path } = self.accepted {
            say("accepted", &format!("remembered in {}", super::shown(path)));
        }
        say("result", &result(verdict));
        text
    }

    fn rule_text(&self) -> String {
        let rule = self.rule;
        let file = || self.file.map_or_else(|| "trust.toml".to_owned(), |file| super::shown(file).to_string());
        let origin = match &rule.origin {
            RuleOrigin::Default if self.file.is_some() => format!("none of {}, so the default", file()),
            RuleOrigin::Default => "the default, as there is no trust.toml".to_owned(),
            RuleOrigin::File { line } => format!("{}:{line}", file()),
            RuleOrigin::CommandLine => "the keys of the command line".to_owned(),
        };
        let names: Vec<&str> = rule.keys.iter().map(|key| key.name.as_str()).collect();
        let keys = match names.as_slice() {
            [] => "no keys but those that are pinned".to_owned(),
            names if rule.threshold == 1 => format!("one of {}", names.join(", ")),
            names => format!("{} of {}", rule.threshold, names.join(", ")),
        };
        let (Unsigned::Said(action) | Unsigned::ByDefault(action)) = rule.unsigned;
        let action = format!("{action:?}").to_lowercase();
        format!("{origin}: {keys}; unsigned = {action}; must say {}", rule.predicate_types.join(" and "))
    }

    /// Whose packages the signatures are for; nothing where that is all or none.
    fn coverage(&self, verdict: &Verdict) -> Option<String> {
        if verdict.covered.index || verdict.covered.zips.is_empty() {
            return None;
        }
        let list = |wanted: bool| {
            let of = self.covered(verdict).into_iter().filter(|(_, covered)| *covered == wanted);
            of.map(|(platform, _)| platform.to_string()).collect::<Vec<_>>().join(" ")
        };
        match (list(true), list(false)) {
            (signed, none) if none.is_empty() => Some(format!("the archives of {signed}, by SHA256SUMS")),
            (signed, not) => Some(format!("the archives of {signed}, by SHA256SUMS; not those of {not}")),
        }
    }
}

fn found(examined: &Examined) -> String {
    let form = match examined.form {
        Some(Form::Bundle) => "bundle",
        Some(Form::CosignTag) => "cosign-tag",
        Some(Form::Sums) => "sha256sums",
        None => "something that",
    };
    let by = match (&examined.key_name, &examined.key, &examined.claimed_key) {
        (Some(name), Some(key), _) => format!(" by {name} ({key})"),
        (None, Some(key), _) => format!(" by {key}"),
        (_, None, Some(claimed)) => format!(" by {claimed} (as it says)"),
        _ => String::new(),
    };
    let mut text = format!("{form}{by} {}", examined.outcome);
    let named: Vec<&str> = [&examined.address, &examined.version].into_iter().flatten().map(String::as_str).collect();
    if !named.is_empty() {
        text.push_str(&format!("; it names {}", named.join(" ")));
    }
    if let Some(says) = &examined.predicate_type {
        text.push_str(&format!("; it says {says}"));
    }
    if !examined.zips.is_empty() {
        text.push_str(&format!("; it lists {} of this release's archives", examined.zips.len()));
    }
    text.push_str(&format!("; in {}", examined.origin));
    text
}

fn result(verdict: &Verdict) -> String {
    if let Some(refusal) = &verdict.refusal {
        return format!("refused ({}): {refusal}", refusal.code());
    }
    let names: Vec<&str> = verdict.signers.iter().map(|signer| signer.name.as_str()).collect();
    match verdict.standing {
        Standing::Signed => format!("signed by {}", names.join(", ")),
        Standing::Pinned => "trusted as before: this very index was signed when it was pinned".to_owned(),
        Standing::Unsigned => "not signed; the policy lets it in".to_owned(),
    }
}

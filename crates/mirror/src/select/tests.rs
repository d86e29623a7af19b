use super::*;
use tofu_oci_types::Predecessor;

use crate::rules::RulesFile;

const OFFERED: &str = "0.0.0 1.0.0 1.1.0 2.0.0-rc.1 1.2.0 2.0.0 1.10.0";

struct Case {
    rules: &'static str,
    predecessors: &'static [&'static str],
    offered: &'static str,
    present: &'static str,
    /// `VERSION=DAY of January`; `None` in the first run.
    seen: Option<&'static str>,
    locked: Option<&'static str>,
    today: u32,
}

impl Case {
    fn of(rules: &'static str) -> Self {
        Self { rules, predecessors: &[], offered: OFFERED, present: "", seen: Some(""), locked: None, today: 20 }
    }

    #[track_caller]
    fn check(self, want: &str) {
        let day = |day: u32| format!("2026-01-{day:02}T00:00:00Z").parse::<Moment>().unwrap();
        let versions =
            |text: &str| text.split_whitespace().map(|version| version.parse().unwrap()).collect::<Vec<Version>>();
        let mut file = RulesFile::parse(self.rules).unwrap();
        file.rules.predecessors = self.predecessors.iter().map(|pair| pair.parse::<Predecessor>().unwrap()).collect();
        file.rules.providers[0].locked = self.locked.map(|version| version.parse().unwrap());
        let sightings = self.seen.map(|text| {
            let mut sightings = Sightings::default();
            for (version, seen) in text.split_whitespace().map(|entry| entry.split_once('=').unwrap()) {
                sightings.see(&version.parse().unwrap(), day(seen.parse().unwrap()));
            }
            sightings
        });
        let address = "example.com/acme/zap".parse().unwrap();
        let selection = select(
            &file.rules,
            &Candidates {
                address: &address,
                offered: &versions(self.offered),
                present: &versions(self.present).iter().collect(),
                sightings: sightings.as_ref(),
                now: day(self.today),
            },
        );
        let shown = |selected: &SelectedVersion| {
            let platforms: Vec<String> = selected.platforms.iter().map(ToString::to_string).collect();
            let platforms = if platforms.is_empty() { String::new() } else { format!("[{}]", platforms.join(",")) };
            match &selected.choice {
                MirrorChoice::Wanted => format!("{}{platforms}", selected.version),
                MirrorChoice::Held { until } => format!("{} held until {}", selected.version, until.day()),
                MirrorChoice::Denied { by } => {
                    format!("{} denied by {}", selected.version, by.as_deref().unwrap_or("allow"))
                }
            }
        };
        let unmet = selection.unmet.iter().map(|constraints| format!("unmet {constraints}"));
        let got: Vec<String> = selection.versions.iter().map(shown).chain(unmet).collect();
        assert_eq!(got.join("; "), want, "{}", self.rules);
    }
}

const ALL: &str = "[[provider]]\naddress = \"example.com/acme/zap\"";

#[test]
fn constraints_and_the_newest_choose_versions() {
    Case::of(ALL).check("1.0.0; 1.1.0; 1.2.0; 1.10.0; 2.0.0");
    Case::of("[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"~> 1.0\"\nlatest = 2")
        .check("1.2.0; 1.10.0");
    Case::of("[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"2.0.0-rc.1\"").check("2.0.0-rc.1");
    Case::of("[[provider]]\naddress = \"example.com/acme/zap\"\nlatest = 0").check("");
    Case::of("[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"~> 9.0\"").check("unmet ~> 9.0");
    Case { present: "9.1.0", ..Case::of("[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"~> 9.0\"") }
        .check("");
    Case::of("[[provider]]\naddress = \"example.com/acme/other\"").check("");
}

#[test]
fn deny_is_not_gone_around_under_the_host_of_a_predecessor() {
    const TWIN: &str = "deny = [\"old.example/acme/*@1.1.0\"]\n[[provider]]\naddress = \"example.com/acme/zap\"";
    const OTHER: &str = "deny = [\"other.example/acme/*@1.1.0\"]\n[[provider]]\naddress = \"example.com/acme/zap\"";
    let predecessors = &["example.com=old.example"];
    Case { predecessors, ..Case::of(TWIN) }
        .check("1.0.0; 1.1.0 denied by old.example/acme/*@1.1.0; 1.2.0; 1.10.0; 2.0.0");
    Case::of(TWIN).check("1.0.0; 1.1.0; 1.2.0; 1.10.0; 2.0.0");
    Case { predecessors, ..Case::of(OTHER) }.check("1.0.0; 1.1.0; 1.2.0; 1.10.0; 2.0.0");
}

#[test]
fn several_rules_add_up() {
    Case::of(
        "[[provider]]\naddress = \"example.com/acme/zap\"\nlatest = 1\nplatforms = [\"linux_amd64\"]\n\
         [[provider]]\npattern = \"example.com/acme/*\"\nlatest = 2\nplatforms = [\"darwin_arm64\"]",
    )
    .check("1.10.0[darwin_arm64]; 2.0.0[darwin_arm64,linux_amd64]");
    Case::of(
        "[[provider]]\naddress = \"example.com/acme/zap\"\nlatest = 1\nplatforms = [\"linux_amd64\"]\n\
         [[provider]]\npattern = \"*/*/*\"\nlatest = 1",
    )
    .check("2.0.0");
}

#[test]
fn lists_keep_versions_out_and_the_next_one_takes_their_place() {
    Case::of("deny = [\"example.com/acme/zap@2.0.0\"]\n[[provider]]\naddress = \"example.com/acme/zap\"\nlatest = 2")
        .check("1.2.0; 1.10.0; 2.0.0 denied by example.com/acme/zap@2.0.0");
    Case::of("allow = [\"example.com/acme/zap@< 1.2\"]\n[[provider]]\naddress = \"example.com/acme/zap\"\nlatest = 2")
        .check("1.0.0; 1.1.0; 1.2.0 denied by allow; 1.10.0 denied by allow; 2.0.0 denied by allow");
    Case::of("deny = [\"*/*/*\"]\n[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"1.0.0\"")
        .check("1.0.0 denied by */*/*");
}

#[test]
fn a_prerelease_or_build_metadata_of_a_denied_version_was_mirrored() {
    let of = |rules| Case { offered: "1.4.0 1.4.0+evil 1.5.0-rc1 2.0.0", ..Case::of(rules) };
    of("deny = [\"example.com/acme/zap@1.4.0\"]\n[[provider]]\naddress = \"example.com/acme/zap\"")
        .check("1.4.0+evil denied by example.com/acme/zap@1.4.0; 1.4.0 denied by example.com/acme/zap@1.4.0; 2.0.0");
    of("deny = [\"*/*/*@< 2.0.0\"]\n[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"1.5.0-rc1\"")
        .check("1.5.0-rc1 denied by */*/*@< 2.0.0");
    // What admits stays exact.
    of("allow = [\"*/*/*@1.4.0\"]\n[[provider]]\naddress = \"example.com/acme/zap\"")
        .check("1.4.0+evil denied by allow; 1.4.0; 2.0.0 denied by allow");
}

#[test]
fn a_young_version_is_held_back() {
    let rules = "min_age = \"7d\"\n[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \">= 1.2\"\nlatest = 1";
    let seen = Some("1.2.0=1 1.10.0=13 2.0.0=14");
    Case { seen, ..Case::of(rules) }.check("1.10.0; 2.0.0 held until 2026-01-21");
    Case { seen, today: 21, ..Case::of(rules) }.check("2.0.0");
    // What was never seen is seen now.
    Case { seen: Some("1.2.0=1"), ..Case::of(rules) }
        .check("1.2.0; 1.10.0 held until 2026-01-27; 2.0.0 held until 2026-01-27");
    // What is there is not held back.
    Case { seen, present: "2.0.0", ..Case::of(rules) }.check("2.0.0");
}

#[test]
fn the_locked_version_is_in_use_when_the_mirror_begins() {
    let rules = "min_age = \"7d\"\n[[provider]]\naddress = \"example.com/acme/zap\"\nversions = \"1.2.0\"";
    Case { seen: None, locked: Some("1.2.0"), ..Case::of(rules) }.check("1.2.0");
    Case { seen: None, ..Case::of(rules) }.check("1.2.0 held until 2026-01-27");
    Case { locked: Some("1.2.0"), ..Case::of(rules) }.check("1.2.0 held until 2026-01-27");
}

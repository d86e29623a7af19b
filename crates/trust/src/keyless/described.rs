//! What a trusted root names, for people.

use serde::Serialize;
use sigstore_verify::trust_root::TrustedRoot as Document;
use sigstore_verify::types::TimeRange;

/// A trusted root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DescribedRoot {
    /// `sigstore`, `github`, or the file as the policy names it.
    pub name: String,
    /// The day on which it was taken, of one that is built in.
    pub date: Option<String>,
    /// Who issues certificates.
    pub authorities: Vec<RootMember>,
    /// Where signatures are logged.
    pub logs: Vec<RootMember>,
    /// Where certificates are logged.
    pub certificate_logs: Vec<RootMember>,
    /// Who says when something was signed.
    pub timestamp_authorities: Vec<RootMember>,
}

/// An authority or a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootMember {
    /// Its name or address.
    pub name: String,
    /// From when what it says counts.
    pub from: Option<String>,
    /// Until when; `None` if it counts today.
    pub until: Option<String>,
}

impl DescribedRoot {
    pub(super) fn of(name: &str, date: Option<&str>, document: &Document) -> Self {
        let authorities = document.certificate_authorities.iter();
        let timestamps = document.timestamp_authorities.iter();
        let logs = document.tlogs.iter().map(|log| (&log.base_url, log.public_key.valid_for.as_ref()));
        let certificate_logs = document.ctlogs.iter().map(|log| (&log.base_url, log.public_key.valid_for.as_ref()));
        let log = |(url, valid): (&String, Option<&TimeRange>)| RootMember::of(url.clone(), valid);
        Self {
            name: name.to_owned(),
            date: date.map(str::to_owned),
            authorities: authorities
                .map(|one| RootMember::of(called(&one.uri, one.subject.common_name.as_deref()), one.valid_for.as_ref()))
                .collect(),
            logs: logs.map(log).collect(),
            certificate_logs: certificate_logs.map(log).collect(),
            timestamp_authorities: timestamps
                .map(|one| {
                    let uri = one.uri.as_deref().unwrap_or_default();
                    RootMember::of(called(uri, one.subject.common_name.as_deref()), one.valid_for.as_ref())
                })
                .collect(),
        }
    }
}

impl RootMember {
    fn of(name: String, valid: Option<&TimeRange>) -> Self {
        let until = valid.and_then(|range| range.end.as_ref()).map(ToString::to_string);
        Self { name, from: valid.map(|range| range.start.to_string()), until }
    }
}

/// The address of an authority, or else its name.
fn called(uri: &str, name: Option<&str>) -> String {
    name.filter(|_| uri.is_empty()).unwrap_or(uri).to_owned()
}

//! A situation that is known in every part.

use tofu_oci_credentials::opentofu::{HeldCredential, Prediction};
use tofu_oci_credentials::{
    Candidate, CandidateVerdict, Choice, Credential, CredentialLookup, CredentialOrigin, CredentialPolicy, FilePlace,
    HelperCall, HelperName, SearchScope, Specificity,
};
use tofu_oci_explain::access::{
    AccessFindings, Caller, ExplainedFile, ExplainedRun, FileCondition, ProbeOutcome, explain, sources,
};
use tofu_oci_remote::AccessKind;
use tofu_oci_remote::{Exchange, Probe, RegistryPing, ShownCredential, TokenOutcome};
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::Secret;

use super::super::hints;
use super::super::text::render;

pub(super) const DOCKER: &str = "~/.docker/config.json";

pub(super) fn place(line: usize) -> FilePlace {
    FilePlace { file: DOCKER.to_owned(), line: Some(line) }
}

pub(super) fn auth(key: &str, line: usize, fit: Option<Specificity>, verdict: CandidateVerdict) -> Candidate {
    Candidate { origin: CredentialOrigin::Auth { key: key.to_owned(), place: place(line) }, fit, verdict }
}

pub(super) fn store(line: usize) -> CredentialOrigin {
    CredentialOrigin::CredsStore { name: "pass".to_owned(), place: place(line) }
}

pub(super) fn login(username: &str, line: usize) -> Choice {
    let origin = CredentialOrigin::Auth { key: "ghcr.io".to_owned(), place: place(line) };
    Choice::Credential { credential: Credential::basic(username, "hidden-password"), origin }
}

pub(super) fn asks_store(server: &str) -> Choice {
    let helper = HelperName::parse("pass").expect("a name");
    Choice::Ask { call: HelperCall { helper, servers: vec![server.to_owned()] }, origin: store(3) }
}

/// The same login from the same entry.
pub(super) fn same(username: &str) -> Prediction {
    let origin = CredentialOrigin::Auth { key: "ghcr.io".to_owned(), place: place(3) };
    Prediction::Basic { username: username.to_owned(), password: Secret::new("hidden-password"), origin }
}

/// A situation, and the parts of it that differ from "a login works".
pub(super) struct Case {
    pub(super) repository: &'static str,
    pub(super) action: AccessKind,
    pub(super) candidates: Vec<Candidate>,
    pub(super) choice: Choice,
    pub(super) prediction: Prediction,
    pub(super) helpers: Vec<ExplainedRun>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) root: Option<Result<RegistryPing, StoreError>>,
    pub(super) root_exchanges: Vec<Exchange>,
    pub(super) ended: Result<Probe, StoreError>,
}

impl Case {
    pub(super) fn works() -> Self {
        Self {
            repository: "ghcr.io/acme/widget",
            action: AccessKind::Pull,
            candidates: vec![auth("ghcr.io", 3, Some(Specificity::Registry), CandidateVerdict::Chosen)],
            choice: login("ada", 3),
            prediction: same("ada"),
            helpers: Vec::new(),
            exchanges: vec![answer(401, ShownCredential::Nothing, "Basic"), answer(200, ada(), "")],
            root: None,
            root_exchanges: Vec::new(),
            ended: Ok(Probe::Granted),
        }
    }

    /// What is printed: the explanation, and below a line the diagnostic.
    pub(super) fn printed(self) -> String {
        let repository = self.repository.parse().expect("a repository");
        let lookup = CredentialLookup { repository, candidates: self.candidates, choice: self.choice };
        let file = ExplainedFile {
            name: DOCKER.to_owned(),
            named_by: None,
            known_to_opentofu: true,
            state: FileCondition::Read,
            problems: Vec::new(),
            sources: sources(DOCKER, &lookup),
        };
        let findings = AccessFindings {
            action: self.action,
            asks: Caller::Files,
            configuration: vec![file],
            policy: &CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, Vec::new()),
            lookup: &lookup,
            closed: None,
            overlooked: &[],
            prediction: &self.prediction,
            faults: &[],
            held: Some(HeldCredential::Password),
            helpers: self.helpers,
            exchanges: self.exchanges,
            root: self.root,
            root_exchanges: self.root_exchanges,
            ended: ProbeOutcome::Asked(self.ended),
        };
        let (explanation, failure) = explain(&findings);
        let diagnostic = failure.map(|failure| hints::diagnostic(self.repository, failure, &findings.ended));
        let json = serde_json::to_string(&explanation).expect("plain values");
        let text = render(&explanation).to_string();
        assert!(!json.contains("hidden-password") && !text.contains("hidden-password"), "{text}");
        let diagnostic = diagnostic.map(|diagnostic| {
            let hints: Vec<String> = diagnostic.hints().iter().map(|hint| format!("hint: {hint}\n")).collect();
            format!("\nerror: {}\n{}", diagnostic.text(), hints.concat())
        });
        format!("{text}{}", diagnostic.unwrap_or_default())
    }
}

pub(super) fn ada() -> ShownCredential {
    ShownCredential::Basic { username: "ada".to_owned() }
}

pub(super) fn answer(status: u16, shown: ShownCredential, challenge: &str) -> Exchange {
    Exchange::Registry {
        method: "GET".to_owned(),
        url: "https://ghcr.io/v2/acme/widget/tags/list".to_owned(),
        status,
        shown,
        challenges: Some(challenge.to_owned()).filter(|text| !text.is_empty()).into_iter().collect(),
        error: None,
    }
}

pub(super) fn token(shown: ShownCredential, status: u16, outcome: TokenOutcome) -> Exchange {
    Exchange::Token {
        method: "GET".to_owned(),
        server: "https://ghcr.io/token".to_owned(),
        service: None,
        scopes: vec!["repository:acme/widget:pull,push".to_owned()],
        shown,
        status: Some(status),
        error: None,
        outcome,
    }
}

pub(super) fn refused(fault: AccessFault, problem: &str) -> Result<Probe, StoreError> {
    Err(StoreError::Unauthorized { place: "ghcr.io/acme/widget".parse().unwrap(), fault, problem: problem.to_owned() })
}

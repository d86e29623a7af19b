//! Situations that need no registry: what is printed about given facts.

mod fixture;

use insta::assert_snapshot;
use tofu_oci_credentials::opentofu::Prediction;
use tofu_oci_credentials::{Candidate, CandidateVerdict, Choice, ChoiceError, CredentialOrigin, NearMiss, Specificity};
use tofu_oci_explain::access::{ExplainedRun, RunOutcome};
use tofu_oci_remote::AccessKind;
use tofu_oci_remote::{Exchange, Probe, RegistryPing, ShownCredential, TokenOutcome};
use tofu_oci_store::{AccessFault, StoreError};

use fixture::{Case, ada, answer, asks_store, auth, place, refused, same, store, token};

#[test]
fn each_source_says_why_it_counts_or_does_not() {
    let empty = Candidate {
        origin: CredentialOrigin::CredHelper { key: "ghcr.io".to_owned(), name: "pass".to_owned(), place: place(9) },
        fit: Some(Specificity::Registry),
        verdict: CandidateVerdict::Outranked,
    };
    let case = Case {
        candidates: vec![
            auth("ghcr.io/acme/widget", 2, Some(Specificity::Path(2)), CandidateVerdict::Empty),
            auth("ghcr.io/acme", 3, Some(Specificity::Path(1)), CandidateVerdict::Chosen),
            auth("ghcr.io", 4, Some(Specificity::Registry), CandidateVerdict::Outranked),
            auth("https://ghcr.io", 5, None, CandidateVerdict::NoMatch(Some(NearMiss::Scheme("ghcr.io".to_owned())))),
            auth("quay.io", 6, None, CandidateVerdict::LeftOut("its `auth` is no base64".to_owned())),
            auth("docker.io", 7, None, CandidateVerdict::NoMatch(None)),
            empty,
            Candidate { origin: store(11), fit: Some(Specificity::Store), verdict: CandidateVerdict::Outranked },
        ],
        ..Case::works()
    };
    assert_snapshot!(case.printed(), @r#"
    ghcr.io/acme/widget, to pull
    looked at, in this order
      ~/.docker/config.json
        line 2    auths "ghcr.io/acme/widget": it names this very repository, and holds no login: docker
                  keeps it in a helper
        line 3    auths "ghcr.io/acme": chosen, it names the registry and the first part of the path
        line 4    auths "ghcr.io": it names the registry, and another one names more
        line 5    auths "https://ghcr.io": does not fit, a key is no URL: write ghcr.io
        line 6    auths "quay.io": left out, its `auth` is no base64
        line 9    credHelpers "ghcr.io": "pass": it names the registry, and another one names more
        line 11   credsStore "pass": it serves every registry, and another one names more
        others    "docker.io": for other repositories

    chosen    auths "ghcr.io" of ~/.docker/config.json:3, user ada: of all that fit it names the most
    asked     no helper and no token server
    answered  GET https://ghcr.io/v2/acme/widget/tags/list, showing nothing: 401
                wants Basic
              GET https://ghcr.io/v2/acme/widget/tags/list, as ada: 200
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull works: the registry lets ada in
    "#);
}

#[test]
fn many_other_registries_are_summed_up() {
    let mut case = Case::works();
    let others = (10..30).map(|n| auth(&format!("r{n}.example"), n, None, CandidateVerdict::NoMatch(None)));
    case.candidates.extend(others);
    assert_snapshot!(case.printed(), @r#"
    ghcr.io/acme/widget, to pull
    looked at, in this order
      ~/.docker/config.json
        line 3    auths "ghcr.io": chosen, it names the registry
        others    "r10.example", "r11.example", "r12.example", "r13.example", "r14.example",
                  "r15.example" and 14 more: for other repositories

    chosen    auths "ghcr.io" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     no helper and no token server
    answered  GET https://ghcr.io/v2/acme/widget/tags/list, showing nothing: 401
                wants Basic
              GET https://ghcr.io/v2/acme/widget/tags/list, as ada: 200
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull works: the registry lets ada in
    "#);
}

#[test]
fn a_token_says_how_far_it_reaches() {
    let granted = Some(vec!["repository:acme/widget:pull".to_owned()]);
    let case = Case {
        action: AccessKind::Push,
        exchanges: vec![
            answer(401, ShownCredential::Nothing, "Bearer realm=\"https://ghcr.io/token\""),
            token(ada(), 200, TokenOutcome::Token { seconds: Some(300), granted }),
            answer(403, ShownCredential::Token, ""),
        ],
        ended: Err(StoreError::Denied {
            place: "ghcr.io/acme/widget".parse().unwrap(),
            fault: AccessFault::RegistryStatus(403),
            problem: "denied".to_owned(),
        }),
        ..Case::works()
    };
    assert_snapshot!(case.printed(), @r#"
    ghcr.io/acme/widget, to push
    looked at, in this order
      ~/.docker/config.json
        line 3    auths "ghcr.io": chosen, it names the registry

    chosen    auths "ghcr.io" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     a token for repository:acme/widget:pull,push
    answered  GET https://ghcr.io/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="https://ghcr.io/token"
              GET https://ghcr.io/token, as ada: 200, a token for 300 s, which grants
              repository:acme/widget:pull
              GET https://ghcr.io/v2/acme/widget/tags/list, with the token: 403
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a push fails, registry-status:403: the token for repository:acme/widget:pull,push does not
              carry the right to push

    error: ghcr.io/acme/widget: the token for repository:acme/widget:pull,push does not carry the right to push
    hint: the token grants repository:acme/widget:pull alone
    hint: the login is that of auths "ghcr.io" of ~/.docker/config.json:3
    hint: ask the owner of the repository to let ada push, or log in as somebody else
    "#);
}

#[test]
fn a_helper_that_gives_an_identity_token_stops_opentofu() {
    let server = "https://ghcr.io";
    let gave = ExplainedRun {
        program: "docker-credential-pass".to_owned(),
        server: server.to_owned(),
        outcome: RunOutcome::Credential,
        username: None,
        reason: None,
    };
    let ask =
        Prediction::Ask { program: "docker-credential-pass".to_owned(), server: server.to_owned(), origin: store(3) };
    let case = Case {
        candidates: vec![Candidate {
            origin: store(3),
            fit: Some(Specificity::Store),
            verdict: CandidateVerdict::Chosen,
        }],
        choice: asks_store(server),
        prediction: ask,
        helpers: vec![gave],
        exchanges: vec![
            answer(401, ShownCredential::Nothing, "Bearer realm=\"https://ghcr.io/token\""),
            token(ShownCredential::RefreshToken, 200, TokenOutcome::Token { seconds: None, granted: None }),
            answer(200, ShownCredential::Token, ""),
        ],
        ..Case::works()
    };
    assert_snapshot!(case.printed(), @r#"
    ghcr.io/acme/widget, to pull
    looked at, in this order
      ~/.docker/config.json
        line 3    credsStore "pass": chosen, it serves every registry

    chosen    credsStore "pass" of ~/.docker/config.json:3, an identity token: nothing else fits
    asked     docker-credential-pass get, for https://ghcr.io: it gave an identity token
              a token for repository:acme/widget:pull,push
    answered  GET https://ghcr.io/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="https://ghcr.io/token"
              GET https://ghcr.io/token, with the identity token: 200, a token
              GET https://ghcr.io/v2/acme/widget/tags/list, with the token: 200
    OpenTofu  1.10 to 1.13: asks the same helper and stops, helper-identity-token: it takes no such
              token
    result    a pull works: the registry lets the owner of the identity token in
    "#);
}

#[test]
fn the_hub_is_asked_for_by_the_name_that_docker_login_stores() {
    let server = "https://index.docker.io/v1/";
    let case = Case {
        repository: "docker.io/acme/widget",
        candidates: vec![Candidate {
            origin: store(3),
            fit: Some(Specificity::Store),
            verdict: CandidateVerdict::Chosen,
        }],
        choice: asks_store(server),
        prediction: Prediction::Anonymous { because: Some("it knows no credentials for docker.io".to_owned()) },
        helpers: vec![ExplainedRun {
            program: "docker-credential-pass".to_owned(),
            server: server.to_owned(),
            outcome: RunOutcome::Credential,
            username: Some("ada".to_owned()),
            reason: None,
        }],
        ..Case::works()
    };
    assert_snapshot!(case.printed(), @r#"
    docker.io/acme/widget, to pull
    looked at, in this order
      ~/.docker/config.json
        line 3    credsStore "pass": chosen, it serves every registry

    chosen    credsStore "pass" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     docker-credential-pass get, for https://index.docker.io/v1/: it gave a login of ada
    answered  GET https://ghcr.io/v2/acme/widget/tags/list, showing nothing: 401
                wants Basic
              GET https://ghcr.io/v2/acme/widget/tags/list, as ada: 200
    OpenTofu  1.10 to 1.13: asks anonymously: it knows no credentials for docker.io
    result    a pull works: the registry lets ada in
    "#);
}

#[test]
fn opentofu_does_otherwise() {
    let ending = |prediction: Prediction| {
        let told = Case { prediction, ..Case::works() }.printed();
        told.lines().filter(|line| line.starts_with("OpenTofu")).collect::<Vec<_>>().join("\n")
    };
    let keys = || vec!["ghcr.io/a".to_owned(), "ghcr.io/a:".to_owned()];
    assert_snapshot!(ending(Prediction::Random { keys: keys() }), @"OpenTofu  1.10 to 1.13: takes one of ghcr.io/a and ghcr.io/a: at random, run by run");
    assert_snapshot!(ending(Prediction::Crash { because: "two blocks".to_owned() }), @"OpenTofu  1.10 to 1.13: crashes: two blocks");
    assert_snapshot!(ending(Prediction::Refused { code: "auth-without-colon", because: "x".to_owned() }), @"OpenTofu  1.10 to 1.13: stops, auth-without-colon: x");
    assert_snapshot!(ending(same("bob")), @r#"OpenTofu  1.10 to 1.13: shows the login of bob, from auths "ghcr.io" of ~/.docker/config.json:3"#);
    assert_snapshot!(ending(Prediction::Anonymous { because: None }), @"OpenTofu  1.10 to 1.13: finds no credentials, and asks anonymously");
}

#[test]
fn older_releases_stop_at_the_root() {
    let ending = |root: RegistryPing| {
        let told = Case { root: Some(Ok(root)), ..Case::works() }.printed();
        told.lines().filter(|line| line.starts_with("OpenTofu")).collect::<Vec<_>>().join("\n")
    };
    let ping = |status| RegistryPing { status, challenges: Vec::new() };
    assert_snapshot!(ending(ping(200)), @"OpenTofu  1.10 to 1.13: chooses the same login");
    assert_snapshot!(ending(ping(401)), @"
    OpenTofu  1.10 to 1.13: chooses the same login
    OpenTofu  1.10 to 1.12: asks for /v2/ first and gives up at its 401, which names no way to log in
    ");
    assert_snapshot!(ending(ping(404)), @"
    OpenTofu  1.10 to 1.13: chooses the same login
    OpenTofu  1.10 to 1.12: asks for /v2/ first and takes its 404 for an unknown provider
    ");
    assert_snapshot!(ending(ping(500)), @"
    OpenTofu  1.10 to 1.13: chooses the same login
    OpenTofu  1.10 to 1.12: asks for /v2/ first and gives up at its status 500
    ");
}

#[test]
fn a_login_that_is_redirected_is_told_with_what_opentofu_does() {
    let elsewhere = TokenOutcome::Elsewhere { to: "https://other.example/token".to_owned() };
    let code = AccessFault::TokenRedirect;
    let problem = "the token server redirects a login to another origin, other.example";
    let case = Case {
        exchanges: vec![
            answer(401, ShownCredential::Nothing, "Bearer realm=\"https://ghcr.io/token\""),
            token(ada(), 307, elsewhere),
            Exchange::Refused { code: code.with_status(), problem: problem.to_owned() },
        ],
        ended: Err(StoreError::Forbidden {
            place: "ghcr.io/acme/widget".parse().unwrap(),
            fault: Some(code),
            host: None,
            problem: problem.to_owned(),
        }),
        ..Case::works()
    };
    let told = case.printed();
    let told = told.split("\nresult").next().unwrap_or_default();
    let told: Vec<&str> = told.lines().skip_while(|line| !line.starts_with("asked")).collect();
    assert_snapshot!(told.join("\n"), @r#"
    asked     a token for repository:acme/widget:pull,push
    answered  GET https://ghcr.io/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="https://ghcr.io/token"
              GET https://ghcr.io/token, as ada: 307
              stopped here (token-redirect): the token server redirects a login to another origin,
              other.example
    OpenTofu  1.10 to 1.13: chooses the same login
    OpenTofu  1.10 to 1.13: follows the token server's redirect to https://other.example without the
              credential and uses the anonymous token silently
    "#);
}

#[test]
fn two_tokens_are_told_only_beside_other_differences() {
    let bearer = "Bearer realm=\"https://ghcr.io/token\"";
    let pull = |challenge: &str| Case {
        exchanges: vec![answer(401, ShownCredential::Nothing, challenge), answer(200, ShownCredential::Token, "")],
        root: Some(Ok(RegistryPing { status: 401, challenges: vec![bearer.to_owned()] })),
        ..Case::works()
    };
    let opentofu = |case: Case| case.printed().lines().filter(|line| line.starts_with("OpenTofu")).count();
    assert_eq!(opentofu(pull(bearer)), 1);
    assert_eq!(opentofu(pull(&format!("{bearer},scope=\"registry:catalog:*\""))), 3);
}

#[test]
fn a_failure_names_its_cause() {
    let error = |case: Case| case.printed().split("\nerror: ").nth(1).unwrap_or("no error").to_owned();
    let wrong = |shown, exchanges| Case {
        exchanges: vec![answer(401, ShownCredential::Nothing, "Basic"), answer(401, shown, "Basic")],
        ended: refused(AccessFault::RegistryStatus(401), "the given credentials are refused"),
        ..exchanges
    };
    assert_snapshot!(error(wrong(ada(), Case::works())), @r#"
    ghcr.io/acme/widget: the registry refuses the login of ada
    hint: the login is that of auths "ghcr.io" of ~/.docker/config.json:3
    hint: log in again with `tofu-oci login ghcr.io --username ada`
    "#);
    let near =
        auth("https://ghcr.io", 5, None, CandidateVerdict::NoMatch(Some(NearMiss::Scheme("ghcr.io".to_owned()))));
    let none = Case { candidates: vec![near], choice: Choice::Anonymous, ..Case::works() };
    assert_snapshot!(error(Case {
        exchanges: vec![answer(401, ShownCredential::Nothing, "Basic")],
        ended: refused(AccessFault::NoCredentialsForBasic, "nothing to show"),
        ..none
    }), @r#"
    ghcr.io/acme/widget: the registry wants a name and a password, and there are no credentials for it
    hint: auths "https://ghcr.io" in ~/.docker/config.json:5 does not serve: a key is no URL: write ghcr.io
    hint: log in with `tofu-oci login ghcr.io --username USER`
    "#);
    let colon = ChoiceError::AuthWithoutColon { key: "ghcr.io".to_owned(), place: place(3) };
    assert_snapshot!(error(Case {
        candidates: vec![auth("ghcr.io", 3, Some(Specificity::Registry), CandidateVerdict::Broken(colon.clone()))],
        ended: Err(StoreError::Credentials {
            place: "ghcr.io/acme/widget".parse().unwrap(),
            code: colon.code().to_owned(),
            problem: colon.to_string(),
            hint: Some("log in again".to_owned()),
        }),
        choice: Choice::Refused(colon),
        ..Case::works()
    }), @"
    ghcr.io/acme/widget: the `auth` of ghcr.io in ~/.docker/config.json:3 has no colon between username and password
    hint: log in again
    ");
    assert_snapshot!(error(Case { ended: Ok(Probe::NoSuchRepository), ..Case::works() }), @"
    ghcr.io/acme/widget: the registry lets ada in, and has no such repository
    hint: check the name; some registries say the same to those who may not read the repository
    hint: before a first push, ask with --push
    ");
}

//! The explanation for people: aligned, at most 100 columns where words allow it.

use anstyle::{AnsiColor, Style};
use tofu_oci_credentials::opentofu::Severity;
use tofu_oci_explain::access::{
    AccessExplanation, AccessOutcome, ChosenSource, CredentialKind, CredentialScope, ExchangeKind, ExchangeLine,
    ExplainedFile, ExplainedRun, ExplainedSource, FileCondition, ReleaseNote, RunOutcome, SourceVerdict,
};
use tofu_oci_remote::AccessKind;
use tofu_oci_types::printable;
use unicode_width::UnicodeWidthStr as _;

use crate::page::{Line, Page, first_of, padded};

/// How many sources of other registries are named for each file.
const NAMED: usize = 6;
/// A longer file name moves nothing else to the right.
const ALIGNED: usize = 40;

/// Everything, in the order of reading.
pub(super) fn render(explanation: &AccessExplanation) -> Page {
    let bold = Style::new().bold();
    let mut page = Page::default();
    page.push(
        Line::default().styled(bold, &explanation.repository).plain(format_args!(", to {}", explanation.action.word())),
    );
    page.append(looked_at(explanation));
    page.gap();
    page.row("", "chosen", chosen(&explanation.chosen));
    page.append(asked(explanation));
    page.append(answered(explanation));
    for note in notes(explanation) {
        let text = note.text.strip_prefix("it ").unwrap_or(&note.text);
        page.row("", "OpenTofu", format_args!("{}: {text}", note.releases));
    }
    page.append(result(explanation));
    page
}

/// What OpenTofu does, without the notes that count only beside other differences.
fn notes(explanation: &AccessExplanation) -> impl Iterator<Item = &ReleaseNote> {
    let differs = explanation.opentofu.iter().any(|note| note.differs && note.weight == Severity::Tells);
    explanation.opentofu.iter().filter(move |note| differs || note.weight == Severity::Tells)
}

fn looked_at(explanation: &AccessExplanation) -> Page {
    let head = match explanation.credentials {
        CredentialScope::Ambient => "looked at, in this order",
        CredentialScope::Listed => "looked at, in this order: docker_style_config_files lists the files",
        CredentialScope::Blocks => "looked at: discover_ambient_credentials = false turns all other files off",
        CredentialScope::Given => return Page::of("looked at nothing: --username says who asks"),
        CredentialScope::None => return Page::of("looked at nothing: --anonymous"),
    };
    let width = explanation.files.iter().map(|file| printable(&file.name).width());
    let width = width.filter(|width| *width <= ALIGNED).max().unwrap_or(0);
    let mut page = Page::of(head);
    explanation.files.iter().for_each(|one| page.append(file(one, width)));
    page
}

fn file(file: &ExplainedFile, width: usize) -> Page {
    let mut remarks = vec![match file.state {
        FileCondition::Read if file.sources.is_empty() && file.problems.is_empty() => "holds no credentials".to_owned(),
        FileCondition::Read => String::new(),
        FileCondition::Missing => "missing".to_owned(),
        FileCondition::Unreadable => "left out: it cannot be read".to_owned(),
        FileCondition::Malformed => "left out: it is malformed".to_owned(),
        FileCondition::NotRead => "not read".to_owned(),
    }];
    remarks.extend(file.named_by.iter().map(|variable| format!("named by {variable}")));
    if !file.known_to_opentofu && file.state != FileCondition::NotRead {
        remarks.push("not known to OpenTofu".to_owned());
    }
    remarks.retain(|remark| !remark.is_empty());
    let mut page = Page::default();
    page.push(Line::of(format_args!("  {}  {}", padded(&printable(&file.name), width), remarks.join("; "))).trimmed());
    for problem in &file.problems {
        page.row("    ", &at(problem.line), &problem.text);
        problem.opentofu.iter().for_each(|effect| page.row("    ", "", format_args!("OpenTofu: {effect}")));
    }
    let counts = |source: &&ExplainedSource| source.verdict != SourceVerdict::Other;
    file.sources.iter().filter(counts).for_each(|one| page.append(source(one)));
    let other = |source: &ExplainedSource| match &source.key {
        Some(key) => format!("\"{key}\""),
        None => source.name(),
    };
    let others: Vec<String> = file.sources.iter().filter(|source| !counts(source)).map(other).collect();
    if !others.is_empty() {
        let named = first_of(&others, NAMED, (" and", "more"));
        page.row("    ", "others", format_args!("{named}: for other repositories"));
    }
    page
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}")).unwrap_or_default()
}

fn source(source: &ExplainedSource) -> Page {
    let mut page = Page::default();
    page.row("    ", &at(source.line), format_args!("{}: {}", source.name(), source.why));
    if source.verdict == SourceVerdict::Chosen { page.in_style(Style::new().bold()) } else { page }
}

fn chosen(chosen: &ChosenSource) -> String {
    let Some(source) = &chosen.source else { return chosen.why.clone() };
    let place = match (&chosen.file, chosen.line) {
        (Some(file), Some(line)) => format!(" of {file}:{line}"),
        (Some(file), None) => format!(" of {file}"),
        (None, _) => String::new(),
    };
    let what = match (chosen.shows, &chosen.username) {
        (CredentialKind::Password, Some(user)) => format!(", user {user}"),
        (CredentialKind::IdentityToken, _) => ", an identity token".to_owned(),
        (CredentialKind::AccessToken, _) => ", an access token".to_owned(),
        _ => String::new(),
    };
    format!("{source}{place}{what}: {}", chosen.why)
}

/// The helpers, and the right that a token was asked for.
fn asked(explanation: &AccessExplanation) -> Page {
    let mut lines: Vec<String> = explanation.helpers.iter().map(helper).collect();
    let mut scopes: Vec<&String> = explanation.exchanges.iter().flat_map(|step| &step.scopes).collect();
    scopes.dedup();
    for scope in scopes {
        let line = format!("a token for {scope}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines.push(match explanation.outcome {
            AccessOutcome::Refuses => "nothing: every verb stops before it asks".to_owned(),
            _ => "no helper and no token server".to_owned(),
        });
    }
    rows("asked", &lines)
}

fn helper(run: &ExplainedRun) -> String {
    let head = format!("{} get, for {}", run.program, run.server);
    match (run.outcome, &run.username, &run.reason) {
        (RunOutcome::Credential, Some(user), _) => format!("{head}: it gave a login of {user}"),
        (RunOutcome::Credential, None, _) => format!("{head}: it gave an identity token"),
        (RunOutcome::NotFound, ..) => format!("{head}: it has no login"),
        (RunOutcome::Empty, ..) => format!("{head}: it gave an empty login, which does not count"),
        (RunOutcome::Failed, _, Some(reason)) => format!("{head}: {reason}"),
        (RunOutcome::Failed, _, None) => format!("{head}: it failed"),
    }
}

/// What came back, one line a request, challenges below it.
fn answered(explanation: &AccessExplanation) -> Page {
    let mut page = Page::default();
    for step in &explanation.exchanges {
        let name = if page.is_empty() { "answered" } else { "" };
        page.row("", name, step_text(step));
        let wanted = step.challenges.iter().filter(|_| !gives_up(step) && !is_root(step));
        wanted.for_each(|one| page.row("  ", "", format_args!("wants {}", spaced(one))));
    }
    match (page.is_empty(), explanation.outcome) {
        (false, _) => {}
        (true, AccessOutcome::Refuses) => page.row("", "answered", "nothing: no request was made"),
        (true, _) => page.row("", "answered", "nothing"),
    }
    page
}

fn step_text(step: &ExchangeLine) -> String {
    let code = step.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let problem = step.problem.clone().unwrap_or_default();
    let request = [step.method.as_deref(), step.url.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mut ends = vec![step.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string())];
    match step.kind {
        // The lines above say why a helper or a source is wrong.
        ExchangeKind::Refused if !step.code.as_deref().is_some_and(is_fault_of_answer) => {
            return format!("stopped here{code}");
        }
        ExchangeKind::Refused => return format!("stopped here{code}: {problem}"),
        ExchangeKind::Redirect => return format!("sent on to {request}, {}", shown(step)),
        ExchangeKind::Token if step.problem.is_none() => {
            ends.push(match step.seconds {
                Some(seconds) => format!("a token for {seconds} s"),
                None => "a token".to_owned(),
            });
            ends.extend(step.granted.as_ref().map(|granted| match granted.as_slice() {
                [] => "which grants nothing".to_owned(),
                granted if granted.iter().all(|one| one.ends_with(':')) => "which grants nothing".to_owned(),
                granted => format!("which grants {}", granted.join(" ")),
            }));
        }
        _ if gives_up(step) => match step.status {
            Some(200..=299 | 404) => ends.push("the upload is given up".to_owned()),
            _ => ends.push("the upload, which is given up, expires by itself".to_owned()),
        },
        // The status says it all.
        ExchangeKind::Token if step.status.is_some_and(|status| status != 200) => ends.extend(step.refusal.clone()),
        ExchangeKind::Registry if step.shown == Some("nothing") && !step.challenges.is_empty() => {}
        _ => ends.extend(step.problem.iter().cloned()),
    }
    if is_root(step) {
        return format!("{request}, which OpenTofu up to 1.12 asks first: {}", ends.join(", "));
    }
    format!("{request}, {}: {}", shown(step), ends.join(", "))
}

/// Whether it asks for `/v2/`, which nothing of a repository does.
fn is_root(step: &ExchangeLine) -> bool {
    step.kind == ExchangeKind::Registry && step.url.as_ref().is_some_and(|url| url.ends_with("/v2/"))
}

/// Whether it ends the upload that `explain` began; this needs no further right.
fn gives_up(step: &ExchangeLine) -> bool {
    step.method.as_deref() == Some("DELETE")
}

/// Whether the fault is in an answer, which no line above explains.
fn is_fault_of_answer(code: &str) -> bool {
    ["realm-", "token-", "no-credentials", "incomplete-"].iter().any(|start| code.starts_with(start))
}

/// A challenge with a blank after every comma between its parameters, so that the page can break the line there.
fn spaced(challenge: &str) -> String {
    let mut quoted = false;
    let mut text = String::with_capacity(challenge.len() + 8);
    let mut letters = challenge.chars().peekable();
    while let Some(letter) = letters.next() {
        quoted ^= letter == '"';
        text.push(letter);
        if letter == ',' && !quoted && letters.peek() != Some(&' ') {
            text.push(' ');
        }
    }
    text
}

fn shown(step: &ExchangeLine) -> String {
    match (step.shown, &step.username) {
        (Some("password"), Some(user)) => format!("as {user}"),
        (Some("token"), _) => "with the token".to_owned(),
        (Some("access-token"), _) => "with the block's token".to_owned(),
        (Some("identity-token"), _) => "with the identity token".to_owned(),
        _ => "showing nothing".to_owned(),
    }
}

fn result(explanation: &AccessExplanation) -> Page {
    let (colour, word) = match explanation.outcome {
        AccessOutcome::Works => (AnsiColor::Green, "works"),
        AccessOutcome::Fails => (AnsiColor::Red, "fails"),
        AccessOutcome::Refuses => (AnsiColor::Red, "is refused"),
        AccessOutcome::NotKnown => (AnsiColor::Yellow, "is not known to work"),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let code = explanation.code.as_ref().map(|code| format!(", {code}")).unwrap_or_default();
    let what = match explanation.action {
        AccessKind::Pull => "a pull",
        AccessKind::Push => "a push",
    };
    let mut page = Page::default();
    let line =
        Line::of(format_args!("{what} ")).styled(style, word).plain(format_args!("{code}: {}", explanation.reason));
    page.row_of("", "result", &line);
    page
}

/// A name beside the first of several texts, each on lines of its own.
fn rows(name: &str, texts: &[String]) -> Page {
    let mut page = Page::default();
    texts.iter().enumerate().for_each(|(nth, text)| page.row("", if nth == 0 { name } else { "" }, text));
    page
}

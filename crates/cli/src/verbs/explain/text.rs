//! The explanation for people: aligned, at most 100 columns where words allow it.

use anstyle::Style;
use tofu_oci_explain::providers::{
    ChainVerdict, DirectHost, InstallingProgram, MethodStep, ProgramOutcome, ProviderExplanation, ProviderQuestion,
    RegistryRoot, StepAnswer,
};
use tofu_oci_mapper::config::{MEASURED, releases_text};
use tofu_oci_source::ConfiguredMethods;
use tofu_oci_types::{TofuRelease, Version};

use crate::page::{Line, Page, first_of};

/// How many versions of a method are shown.
const SHOWN: usize = 6;

/// Every method and how it ends.
pub(super) fn page(
    question: &ProviderQuestion<'_>,
    configured: &ConfiguredMethods,
    explanation: &ProviderExplanation,
) -> Page {
    let mut page = Page::default();
    page.push(head(question));
    let reading = &configured.reading;
    if explanation.steps.is_empty() {
        page.line("the CLI configuration has no method left");
    } else if !configured.methods.explicit {
        page.line("no provider_installation counts: the implicit methods, in the order in which they are asked");
    } else if configured.methods.list.iter().all(|method| method.file.is_none()) {
        page.line("the folders of --plugin-dir alone, in the order in which they are asked");
    } else {
        let file = reading.config.installation.as_ref().and_then(|there| reading.files.get(there.file));
        let path = file.map(|file| file.path.display().to_string()).unwrap_or_default();
        page.line(format_args!("methods of {path}, in the order in which they are asked"));
    }
    methods_and_outcomes(explanation, &mut page);
    if let Some(path) = &explanation.overridden {
        let note = format!("OpenTofu runs it from {}, by dev_overrides, whatever is installed", path.display());
        page.row("", "note", note);
    }
    page
}

/// The same for the one place of `--from`.
pub(super) fn page_from(question: &ProviderQuestion<'_>, explanation: &ProviderExplanation) -> Page {
    let mut page = Page::default();
    page.push(head(question));
    methods_and_outcomes(explanation, &mut page);
    page.row("", "OpenTofu", "knows nothing of --from: it goes by its CLI configuration");
    page
}

fn methods_and_outcomes(explanation: &ProviderExplanation, page: &mut Page) {
    explanation.steps.iter().for_each(|step| method(step, page));
    page.gap();
    for outcome in &explanation.outcomes {
        page.row("", program(outcome), ending(&explanation.steps, outcome));
    }
}

fn head(question: &ProviderQuestion<'_>) -> Line {
    let bold = Style::new().bold();
    let which = if let Some(locked) = &question.locked {
        let by = if locked.by == *question.address { String::new() } else { format!(" for {}", locked.by) };
        format!("locked {} by {}{by}", locked.version, locked.path.display())
    } else if question.constraints.is_any() {
        "the newest version".to_owned()
    } else {
        format!("the newest version that meets {}", question.constraints)
    };
    Line::default().styled(bold, question.address).plain(format_args!(", {which}, for {}", question.platform))
}

fn method(step: &MethodStep, page: &mut Page) {
    let bold = Style::new().bold();
    let number = step.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let at = step.at.as_ref().map_or_else(|| implicit(step), |at| format!("  {at}"));
    page.gap();
    page.push(Line::of(format_args!("{number:>2}  ")).styled(bold, &step.name).plain(at));
    page.row("    ", "matches", &step.matches);
    page.row_if("    ", "place", step.place.as_ref());
    page.row_if("    ", "offers", offers(step));
    page.row_if("    ", "checked", step.check().map(|check| format!("by {check}")));
    for (found, meant) in step.nearly.iter().take(SHOWN) {
        page.row("    ", "beware", format_args!("{found} is not named as a package; its name would be {meant}"));
    }
    for stray in step.strays() {
        let note = format!("the tag {} is taken for version {} by OpenTofu, and is none", stray.tag, stray.version);
        page.row("    ", "beware", note);
    }
    let plain_http = step.plain_http.as_ref();
    page.row_if("    ", "beware", plain_http.map(|it| format!("{it} answers plain HTTP: OpenTofu stops there")));
    match &step.root {
        RegistryRoot::Missing => {
            page.row("    ", "beware", "/v2/ of this registry is 404: OpenTofu up to 1.12 passes over it");
        }
        RegistryRoot::Fails { code, .. } => {
            let note = format!("/v2/ of this registry fails ({code}): OpenTofu up to 1.12 stops there");
            page.row("    ", "beware", note);
        }
        RegistryRoot::NotAsked | RegistryRoot::Answers => {}
    }
    match &step.direct {
        DirectHost::Magic { rule } | DirectHost::OciOnly { rule, .. } => page.row("    ", "rule", rule),
        DirectHost::Registry { address } => {
            page.row("    ", "rule", format_args!("providers.v1 of the host, {address}"));
        }
        DirectHost::Both { rule, address } => {
            page.row("    ", "rule", format_args!("{rule}; OpenTofu asks providers.v1 of the host, {address}"));
        }
        DirectHost::No => {}
    }
}

fn implicit(step: &MethodStep) -> String {
    if step.name.starts_with("--") { String::new() } else { "  (implicit)".to_owned() }
}

/// What a method answered, newest version first.
fn offers(step: &MethodStep) -> Option<String> {
    Some(match &step.answer {
        StepAnswer::NotAsked => return None,
        StepAnswer::Lists(listing) if listing.versions.is_empty() => "no versions".to_owned(),
        StepAnswer::Lists(listing) => versions(&listing.versions),
        StepAnswer::Unknown => "nothing: it does not know the provider, and is passed over".to_owned(),
        StepAnswer::Fails { code, text } => format!("error ({code}): {text}"),
    })
}

fn versions(versions: &[Version]) -> String {
    first_of(&versions.iter().rev().collect::<Vec<_>>(), SHOWN, (" and", "older"))
}

fn program(outcome: &ProgramOutcome) -> &'static str {
    if outcome.programs.iter().copied().find_map(release).is_none() { "tofu-oci" } else { "OpenTofu" }
}

fn ending(steps: &[MethodStep], outcome: &ProgramOutcome) -> String {
    let releases: Vec<TofuRelease> = outcome.programs.iter().copied().filter_map(release).collect();
    let which = match releases.len() {
        0 => String::new(),
        count if count == MEASURED.len() => String::new(),
        _ => format!("{}: ", releases_text(&releases)),
    };
    let label = |number: usize| {
        let step = steps.iter().find(|step| step.number == Some(number));
        step.map_or_else(|| number.to_string(), MethodStep::label)
    };
    let text = match &outcome.verdict {
        ChainVerdict::Serves { version, method, why } => {
            format!("installs {version} from method {}: {why}", label(*method))
        }
        ChainVerdict::Stops { version, method, code, why } => {
            let chosen = version.as_ref().map(|version| format!("chooses {version} and ")).unwrap_or_default();
            format!("{chosen}stops at method {}, {code}: {why}", label(*method))
        }
        ChainVerdict::NotFound { code, why } => format!("finds nothing, {code}: {why}"),
        ChainVerdict::NotKnown { method, why } => format!("not known, because of method {}: {why}", label(*method)),
        ChainVerdict::Refuses { errors: 1 } => {
            "refuses: there is an error in the CLI configuration, shown below".to_owned()
        }
        ChainVerdict::Refuses { errors } => {
            format!("refuses: there are {errors} errors in the CLI configuration, the first one is shown below")
        }
    };
    format!("{which}{text}")
}

fn release(program: InstallingProgram) -> Option<TofuRelease> {
    match program {
        InstallingProgram::OpenTofu(release) => Some(release),
        InstallingProgram::Ours => None,
    }
}

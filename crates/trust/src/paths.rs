//! Paths with `/` that `*` stands in for: repositories, workflows, builders.

/// Whether a repository is one that a pattern names.
pub(crate) fn repository_matches(pattern: &str, repository: &str) -> bool {
    path_matches(&folded(pattern), &folded(repository))
}

/// Whether a text is `HOST/OWNER/REPOSITORY`, as certificates and provenance name repositories; `*` may stand in it.
pub(crate) fn is_repository(text: &str) -> bool {
    let is_foreign = |letter: char| letter.is_whitespace() || matches!(letter, ':' | '@' | '?' | '#' | '\\');
    let segments = text.split('/');
    segments.clone().count() > 2
        && segments.clone().all(|segment| !segment.is_empty())
        && !text.contains(is_foreign)
        && !text.to_ascii_lowercase().ends_with(".git")
}

/// Whether every segment of a pattern is the one of the text.
pub(crate) fn path_matches(pattern: &str, text: &str) -> bool {
    let (patterns, segments) = (pattern.split('/'), text.split('/'));
    patterns.clone().count() == segments.clone().count()
        && patterns.zip(segments).all(|(pattern, segment)| segment_matches(pattern, segment))
}

/// The same of one segment, in which `*` stands for any characters.
pub(crate) fn segment_matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*').filter(|part| !part.is_empty()) {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    text.ends_with(end)
}

/// A repository, or a path in one, as it is compared: GitHub knows no case in the names of owners and repositories.
pub(crate) fn folded(repository: &str) -> String {
    let is_github = repository.split('/').next().is_some_and(|host| host.eq_ignore_ascii_case("github.com"));
    let names = if is_github { 3 } else { 1 };
    let fold = |(nth, segment): (usize, &str)| {
        if nth < names { segment.to_ascii_lowercase() } else { segment.to_owned() }
    };
    repository.split('/').enumerate().map(fold).collect::<Vec<_>>().join("/")
}

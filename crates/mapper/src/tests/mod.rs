mod vectors;

/// Measured cases whose template is not read as by the real programs, with the code that is reported here: of several
/// faults only the first, one code for what does not parse, and `for` is not evaluated.
pub(crate) const OTHER_TEMPLATES: [(&str, &str); 6] = [
    ("tpl-conditional-escaped-quotes", "hcl:invalid-character"),
    ("tpl-directive-for", "hcl:not-supported"),
    ("tpl-directive-for2", "hcl:not-supported"),
    ("tpl-for-expression", "hcl:not-supported"),
    ("tpl-syntax-two-words", "hcl:invalid-syntax"),
    ("tpl-syntax-unclosed-if", "hcl:invalid-syntax"),
];

/// The code that is reported for a case of [`OTHER_TEMPLATES`].
pub(crate) fn other_code(case: &serde_json::Value) -> Option<&'static str> {
    OTHER_TEMPLATES.iter().find(|(name, _)| case["name"] == *name).map(|(_, code)| *code)
}

//! The arguments that a page describes.

use std::collections::BTreeSet;

/// The most arguments that are read of a page.
const MOST: usize = 2_000;

/// The arguments that the lists below "Argument Reference" or "Schema" name. Those of a nested block have its name before theirs, if
/// a heading says it: `timeouts.create`. What a resource only exports does not count.
pub fn arguments(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // The level of the section's heading, while the text is in it.
    let mut section: Option<usize> = None;
    let (mut block, mut is_read_only, mut is_code) = (String::new(), false, false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        if let Some((level, title)) = heading(line) {
            let lower = title.to_lowercase();
            if section.is_none_or(|section| level <= section) {
                let is_section = lower.starts_with("argument") || lower == "schema";
                section = is_section.then_some(level);
                (block, is_read_only) = (String::new(), false);
            } else {
                is_read_only = lower.starts_with("read-only") || lower.starts_with("attribute");
                if !matches!(lower.as_str(), "required" | "optional") && !is_read_only {
                    block = block_of(title);
                }
            }
            continue;
        }
        let lower = line.trim().to_lowercase();
        if matches!(lower.trim_end_matches(':'), "required" | "optional" | "read-only") {
            is_read_only = lower.starts_with("read-only");
        }
        if section.is_some()
            && !is_read_only
            && let Some(name) = item(line)
            && found.len() < MOST
        {
            found.insert(if block.is_empty() { name.to_owned() } else { format!("{block}.{name}") });
        }
    }
    found
}

/// The level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (matches!(level, 1..=6) && rest.starts_with(' ')).then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

/// The block that a heading is about: the last name in backticks, else the heading if it is a name.
fn block_of(title: &str) -> String {
    let quoted = title.split('`').skip(1).step_by(2).last();
    quoted.filter(|name| is_path(name)).or(Some(title).filter(|title| is_path(title))).unwrap_or_default().to_owned()
}

fn is_path(text: &str) -> bool {
    text.len() <= 256 && text.split('.').all(is_argument)
}

/// The name that an item of a list begins with: ``* `name` - (Required) …``.
fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "))?.trim_start();
    let (name, _) = rest.trim_start_matches("**").strip_prefix('`')?.split_once('`')?;
    is_argument(name).then_some(name)
}

fn is_argument(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    !text.is_empty() && text.len() <= 128 && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        assert_eq!(arguments(text).iter().map(String::as_str).collect::<Vec<_>>(), want);
    }

    #[test]
    fn written_pages_have_an_argument_reference() {
        let text = "# a\n\n* `not` - this\n\n## Argument Reference\n\nThis resource supports:\n\n* `name` - (Required) A.\n\
                    * `size` - (Optional) B. See below.\n    * `deep` - C\n\n\
                    ### ebs_block\n\n* `kind` - D\n\n### The `root` block\n\n* `kind` - E\n\n## Attribute Reference\n\n* `id` - F\n\n## Timeouts\n\n* `create` - G\n";
        check(text, &["deep", "ebs_block.kind", "name", "root.kind", "size"]);
    }

    #[test]
    fn generated_pages_have_a_schema() {
        let text = "## Schema\n\n### Required\n\n- `name` (String) A\n\n### Optional\n\n- `timeouts` (Block) (see [below](#x))\n\n\
                    ### Read-Only\n\n- `id` (String)\n\n<a id=\"x\"></a>\n### Nested Schema for `timeouts`\n\nOptional:\n\n\
                    - `create` (String)\n\nRead-Only:\n\n- `state` (String)\n\n### Nested Schema for `a.b`\n\nRequired:\n\n- `c` (String)\n";
        check(text, &["a.b.c", "name", "timeouts", "timeouts.create"]);
    }

    #[test]
    fn code_and_prose_are_not_lists_of_arguments() {
        check(
            "## Argument Reference\n\n```hcl\n* `x` - y\n```\n\nSee `z`.\n* z\n* `a b` - c\n- **`bold`** - d\n",
            &["bold"],
        );
        check("", &[]);
        let many: String = (0..5_000).map(|number| format!("* `a{number}` - b\n")).collect();
        assert_eq!(arguments(&format!("# Argument Reference\n{many}")).len(), MOST);
    }
}

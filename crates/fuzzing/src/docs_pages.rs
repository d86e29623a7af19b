//! Pages of a provider's documentation: what a stranger wrote is shown as HTML that does nothing.

use crate::input::text_of;
use crate::seeds;

/// Reads the page.
pub fn run(bytes: &[u8]) {
    tofu_oci_bridge::fuzzing::docs_pages(text_of(bytes));
}

/// Pages with each kind of element.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "---\npage_title: \"a: b\"\nsubcategory: c\ndescription: |-\n  d\n---\n# a\n\n~> **Note** [b](../index.md#c)\n",
        "## Schema\n\n### Required\n\n- `name` (String) a\n* `b` - (Optional) c\n\n<a id=\"nestedblock--d\"></a>\n### d\n",
        "```terraform\nresource \"a\" \"b\" {\n  c = <<EOT\n<b>\nEOT\n  # d\n}\n```\n",
        "|a|b|\n|:-|-:|\n|`c`|[d](https://registry.terraform.io/providers/acme/widget/latest/docs/resources/widget)|\n",
        "> - [x] a\n>   1. b\n>      > c\n\n***\n<div onclick=\"x\">d</div> ![e](f) <https://g.example/> ~~h~~\\\ni\n",
        "[a]: javascript:b\n[a] [c][a] [d](data:text/html,e) [f](//g)\n\n<!-- h",
    ])
}

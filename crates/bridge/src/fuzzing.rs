//! The readers of requests and of documentation, for the fuzz targets.

pub use crate::access::fuzzing::links;
pub use crate::packages::fuzzing::ranges;
pub use crate::page::fuzzing::docs_pages;
pub use crate::routes::fuzzing::routes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_targets_check_holds() {
        links("/mirror/a/b+c\n/mirror/a/b%2BcQUERY");
        links("/mirror/a\n/mirror/bQUERY");
        links("/a%2fb\n/a/bQUERY");
        ranges("10\nbytes=0-4\n\"tag\"");
        ranges("10\nbytes=10-");
        docs_pages(
            "---\npage_title: a\n---\n# a `b`\n\n- `c` (String) d [e](../index#f)\n\n<a id=\"g\"></a>\n> 1. h\n",
        );
        docs_pages(
            "<script>a</script>[b](javascript:c)[d](https://e.example/\"f)\n\n|a|\n|-|\n|b|\n```hcl\nc = \"<\"\n",
        );
        for path in [
            "/.well-known/terraform.json",
            "/mirror/example.com/acme/widget/index.json",
            "/modules/a.example/b/c/d/versions",
        ] {
            routes(path);
        }
    }
}

//! The readers of requests, for the fuzz targets.

pub use crate::access::fuzzing::links;
pub use crate::packages::fuzzing::ranges;
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
        for path in [
            "/.well-known/terraform.json",
            "/mirror/example.com/acme/widget/index.json",
            "/modules/a.example/b/c/d/versions",
        ] {
            routes(path);
        }
    }
}

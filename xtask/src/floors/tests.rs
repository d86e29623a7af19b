//! The checks of a crate's sources, on small made-up crates: `path: text` pairs, of which the first is the root.

use std::path::Path;

use super::circles;
use super::doors;
use super::modules::ModuleTree;
use super::names::{self, BareEnums};

type Files = [(&'static str, &'static str)];

fn tree(files: &Files) -> ModuleTree {
    let text = |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned());
    ModuleTree::read(&|path| Ok(text(path))).unwrap()
}

#[track_caller]
fn check(files: &Files, want: &[&str]) {
    assert_eq!(circles::findings("x", &tree(files)), want);
}

#[test]
fn one_way_is_not_a_circle() {
    check(
        &[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B; struct A(B);"), ("b.rs", "pub(crate) struct B;")],
        &[],
    );
}

#[test]
fn two_files_that_use_each_other_are_one() {
    let a = "use super::b::B; pub struct A(B);";
    let b = "pub struct B; fn f() -> crate::a::A { crate::a::make() }";
    check(
        &[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", b)],
        &["x: 2 files use each other in a circle:\n  a.rs -> b.rs: B\n  b.rs -> a.rs: A"],
    );
}

#[test]
fn a_re_export_counts_as_the_file_that_defines() {
    let root = "mod a; mod b; pub use a::A; pub use b::*;";
    check(
        &[
            ("lib.rs", root),
            ("a.rs", "pub struct A(crate::B);"),
            ("b.rs", "use crate::A as Other; pub struct B(Other);"),
        ],
        &["x: 2 files use each other in a circle:\n  a.rs -> b.rs: B\n  b.rs -> a.rs: A"],
    );
}

#[test]
fn a_parent_that_only_re_exports_its_child_does_not_use_it() {
    let parent = "mod child; pub use child::run; pub struct Input;";
    check(&[("lib.rs", "mod a;"), ("a.rs", parent), ("a/child.rs", "pub fn run(input: super::Input) {}")], &[]);
}

#[test]
fn a_parent_that_calls_its_child_is_a_circle_with_it() {
    let parent = "mod child; pub use child::run; pub struct Input; fn f() { run(Input) }";
    check(
        &[("main.rs", "mod a;"), ("a/mod.rs", parent), ("a/child.rs", "pub fn run(input: super::Input) {}")],
        &["x: 2 files use each other in a circle:\n  a/mod.rs -> a/child.rs: run\n  a/child.rs -> a/mod.rs: Input"],
    );
}

#[test]
fn a_circle_around_three_files_names_each_step() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; use a::f;"),
        ("a.rs", "use super::b; pub fn f() { b::g(); }"),
        ("b.rs", "use crate::c::{self, H}; pub fn g() { c::h(H) }"),
        ("c.rs", "pub struct H; pub fn h(_: H) { crate::f() }"),
    ];
    check(
        &files,
        &["x: 3 files use each other in a circle:\n  a.rs -> b.rs: g\n  b.rs -> c.rs: H, h\n  c.rs -> a.rs: f"],
    );
}

#[test]
fn macros_and_attributes_are_looked_into() {
    let a = "pub struct A; fn f() { println!(\"{}\", crate::b::text()); }";
    let b = "#[derive(Serialize)] struct B { #[serde(with = \"crate::a::A\")] x: u8 } pub fn text() -> u8 { 1 }";
    check(
        &[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", b)],
        &["x: 2 files use each other in a circle:\n  a.rs -> b.rs: text\n  b.rs -> a.rs: A"],
    );
}

#[test]
fn tests_comments_and_words_that_look_alike_do_not_count() {
    let a = "/// See [`crate::b::B`].\npub struct A { b: u8 } fn f(a: A) -> u8 { a.b } \
             #[cfg(test)] mod tests { use crate::b::B; }";
    check(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use super::a::A; pub struct B(A);")], &[]);
}

#[test]
fn modules_inside_a_file_are_that_file() {
    let a = "mod inner { pub struct I; pub fn f(_: super::A) {} } pub struct A; fn g() { inner::f(A) }";
    check(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use super::a::A;")], &[]);
}

#[test]
fn two_folders_that_use_each_other_are_a_circle_without_one_of_files() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod x; mod y;"),
        ("a/x.rs", "use crate::b::B; pub struct X(B);"),
        ("a/y.rs", "pub struct Y;"),
        ("b.rs", "pub struct B(crate::a::y::Y);"),
    ];
    check(&files, &["x: rooms of src/ use each other in a circle:\n  a/x.rs -> b.rs\n  b.rs -> a/y.rs"]);
}

#[test]
fn what_others_get_says_what_it_is() {
    let files = [
        (
            "lib.rs",
            "mod c; pub mod of { pub const SILENT: u8 = 1; } /// It runs.\npub fn run() {} pub(crate) struct Own; pub use c::Given;",
        ),
        ("c.rs", "pub struct Given { pub free: u8 } #[cfg(test)] mod tests { pub fn test() {} }"),
    ];
    let want = ["x/src/lib.rs: `SILENT` does not say what it is", "x/src/c.rs: `Given` does not say what it is"];
    assert_eq!(doors::findings("x", &tree(&files)), want);
}

#[test]
fn two_types_of_one_name_are_found_in_a_crate_and_inside_functions() {
    let files = [
        ("lib.rs", "mod c; pub enum Kind {} struct Only; trait Line {} fn f() { struct Line; }"),
        ("c.rs", "type Kind = u8; impl FromStr for B { type Only = u8; } #[cfg(test)] mod tests { struct Only; }"),
    ];
    let want = ["x: 2 types are named `Kind`: lib.rs, c.rs", "x: 2 types are named `Line`: lib.rs, lib.rs"];
    assert_eq!(names::findings("x", &tree(&files)), want);
}

#[test]
fn two_enums_with_the_same_variants_are_one_meaning() {
    let mut enums = BareEnums::default();
    let clap = "#[derive(ValueEnum)] enum Choice { Off, On }";
    enums.add("a", &tree(&[("lib.rs", "enum Power { On, Off } enum One { Alone } enum Full { On(u8), Off }")]));
    enums.add("b", &tree(&[("lib.rs", "enum Only { Alone }"), ("c.rs", "")]));
    enums.add("c", &tree(&[("lib.rs", clap)]));
    assert!(enums.findings(&[]).is_empty());
    enums.add("d", &tree(&[("lib.rs", "enum Switch { Off, On }")]));
    assert_eq!(enums.findings(&[]), ["Power (a/src/lib.rs), Switch (d/src/lib.rs) are Off | On"]);
    assert!(enums.findings(&["Switch"]).is_empty());
    assert!(enums.findings(&["Switch", "Gone"])[0].starts_with("`Gone` has"));
}

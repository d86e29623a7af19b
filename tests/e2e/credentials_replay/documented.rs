//! The table of `docs/reference/differences.md` says what the list says.

use super::differences::DIFFERENCES;

#[test]
fn the_table_of_the_guide_is_the_list() {
    let guide = include_str!("../../../docs/reference/differences.md").replace("\r\n", "\n");
    let section = guide
        .split("\n## ")
        .find(|section| section.starts_with("Credentials: where we decide otherwise than OpenTofu"));
    let rows = section.expect("the guide has the section").lines().filter(|line| line.starts_with("| `"));
    let table: Vec<&str> = rows.collect();
    let list: Vec<String> = DIFFERENCES
        .iter()
        .map(|difference| {
            let cases: Vec<&str> = difference.outcomes().flat_map(|ours| ours.cases).copied().collect();
            let (name, theirs, ours) = (difference.name, difference.opentofu, difference.ours);
            format!("| `{name}` | {theirs} | {ours} | {} |", cases.join(", "))
        })
        .collect();
    assert_eq!(table, list, "the table should read\n{}", list.join("\n"));
}

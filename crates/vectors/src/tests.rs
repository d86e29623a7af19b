use serde_json::json;

use super::*;

/// A project whose own table has two sections, and a folder of other tables with this one.
fn table(other: &Value) -> (tempfile::TempDir, Vectors) {
    let folder = tempfile::tempdir().unwrap();
    let (own, others) = (folder.path().join("own"), folder.path().join("others"));
    for (folder, table) in [(&own, &json!({"note": "n", "sums": [{"name": "one", "x": 1}]})), (&others, other)] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("t.json"), table.to_string()).unwrap();
    }
    std::fs::write(own.join("more.json"), "[{\"name\": \"only here\"}]").unwrap();
    let table = Vectors::find("t.json", &own, Some(&others));
    (folder, table)
}

#[test]
fn every_failed_case_is_named_and_hides_no_other() {
    let (_folder, table) = table(&json!({"sums": [{"name": "one", "x": 1}, {"input": "two", "x": 3}, {"x": 4}]}));
    let failures = table.failures("sums", |case| {
        assert_eq!(case["x"], 1, "unknown expectation `x`");
    });
    let told: Vec<&str> = failures.iter().map(|line| line.split_once("t.json, ").unwrap().1).collect();
    assert!(told[0].starts_with("sums, case 2 (`two`): ") && told[0].contains("unknown expectation `x`"), "{told:?}");
    assert!(told[1].starts_with("sums, case 3 ({\"x\":4}): "), "{told:?}");
    assert_eq!(told.len(), 2);
}

#[test]
fn a_section_that_another_table_lacks_or_has_beyond_is_no_failure() {
    let (_folder, table) = table(&json!({"differences": [{"name": "new"}]}));
    table.each("sums", |_| panic!("no case is made up"));
    table.known_sections(&["sums"]);
    assert_eq!((table.member("limit"), table.is_own()), (&Value::Null, false));
}

#[test]
fn a_file_that_the_other_folder_lacks_is_the_projects_own() {
    let (folder, _) = table(&json!({}));
    let own = Vectors::find("more.json", &folder.path().join("own"), Some(&folder.path().join("others")));
    assert!(own.is_own());
    assert_eq!(own.cases("cases").len(), 1, "a list is the section `cases`");
}

#[test]
#[should_panic(expected = "t.json: no cases in the section `differences`")]
fn a_section_that_the_projects_own_table_lacks_is_a_failure() {
    let (folder, _) = table(&json!({}));
    Vectors::find("t.json", &folder.path().join("own"), None).each("differences", |_| {});
}

#[test]
#[should_panic(expected = "TOFU_OCI_VECTORS: /nowhere/at/all is not a folder")]
fn a_folder_that_is_not_there_is_not_passed_over() {
    Vectors::find("t.json", Path::new("/"), Some(Path::new("/nowhere/at/all")));
}

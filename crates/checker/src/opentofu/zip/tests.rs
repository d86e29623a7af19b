use std::io::Cursor;

use super::{ZipFault, list_zip};

#[track_caller]
fn check(bytes: &[u8], want: Result<usize, ZipFault>) {
    let got = list_zip(&mut Cursor::new(bytes), bytes.len() as u64).expect("memory can be read");
    assert_eq!(got.map(|listing| listing.items.len()), want);
}

#[test]
fn what_is_no_archive_is_told() {
    check(b"", Err(ZipFault::Format));
    check(b"not a zip at all, and longer than an end record", Err(ZipFault::Format));
}

#[test]
fn an_end_record_where_nothing_can_come_before_it_points_at_itself() {
    let mut empty = b"PK\x05\x06".to_vec();
    empty.resize(22, 0);
    check(&empty, Ok(0));
    empty[10] = 1;
    check(&empty, Err(ZipFault::End));
}

use std::io::Cursor;
use std::sync::atomic::AtomicU64;

use super::{ZipFault, list_zip};

#[track_caller]
fn check(bytes: &[u8], want: Result<usize, ZipFault>) {
    let got =
        list_zip(&mut Cursor::new(bytes), bytes.len() as u64, &AtomicU64::new(u64::MAX)).expect("memory can be read");
    assert_eq!(got.map(|listing| listing.items.len()), want);
}

#[test]
fn what_is_no_archive_is_told() {
    check(b"", Err(ZipFault::NotAZip));
    check(b"not a zip at all, and longer than an end record", Err(ZipFault::NotAZip));
}

#[test]
fn an_end_record_where_nothing_can_come_before_it_points_at_itself() {
    let mut empty = b"PK\x05\x06".to_vec();
    empty.resize(22, 0);
    check(&empty, Ok(0));
    empty[10] = 1;
    check(&empty, Err(ZipFault::NotAZip));
}

#[test]
fn a_directory_with_too_many_entries_is_not_read_to_its_end() {
    const COUNT: u32 = 100_001;
    let mut header = b"PK\x01\x02".to_vec();
    header.resize(46, 0);
    header[28] = 1;
    header.push(b'/');
    let mut archive = header.repeat(COUNT as usize);
    let size = u32::try_from(archive.len()).expect("it is small");
    archive.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    let records = u16::try_from(COUNT & 0xffff).expect("it is masked").to_le_bytes();
    archive.extend_from_slice(&[records, records].concat());
    archive.extend_from_slice(&size.to_le_bytes());
    archive.extend_from_slice(&[0; 6]);
    check(&archive, Err(ZipFault::TooMany));
}

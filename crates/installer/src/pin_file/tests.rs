use super::*;

#[test]
fn no_file_is_no_pins_and_a_broken_one_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PIN_FILE_NAME);
    assert!(read(&path).unwrap().is_empty());
    assert_eq!(write(&path, &Pins::default()).unwrap(), Written::Unchanged);
    assert!(!path.exists(), "nothing has changed");
    std::fs::write(&path, "{").unwrap();
    assert!(matches!(read(&path), Err(PinFileError::Invalid { .. })));
    std::fs::write(&path, [0xff]).unwrap();
    assert!(matches!(read(&path), Err(PinFileError::File(_))));
}

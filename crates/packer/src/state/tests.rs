//! Releases that go and come back.

//! Work that blocks.

/// Runs file work on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
    }
}

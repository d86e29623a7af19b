//! What takes longer than a second is named, so that nobody takes a quiet terminal for a hung one.

use std::time::Duration;

use tofu_oci_types::Event;

use super::context::Context;

/// The result of a job; after a second a note says what is being done.
pub(crate) async fn noted<T>(context: &Context, doing: String, job: impl Future<Output = T>) -> T {
    let mut job = std::pin::pin!(job);
    match tokio::time::timeout(Duration::from_secs(1), &mut job).await {
        Ok(done) => done,
        Err(_) => {
            context.reporter.event(&Event::note("working", doing));
            job.await
        }
    }
}

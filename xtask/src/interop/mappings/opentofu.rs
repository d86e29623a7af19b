//! The same files read by real `tofu`.

use crate::failure::Outcome;
use crate::interop::https::HttpsServer;
use crate::interop::lab::Lab;
use crate::registry::Guard;

pub(super) fn run(_: &Lab, _: &Guard, _: &HttpsServer) -> Outcome {
    Ok(())
}

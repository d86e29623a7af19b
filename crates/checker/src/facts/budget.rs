//! Limits on what is read of a repository, so that a hostile one cannot fill the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{FaultKind, ReadFault};

/// Most bytes of all manifests and configs together.
const BYTES: u64 = 32 * 1024 * 1024;
/// Most weight of one document, about 32 bytes of memory a unit: 5000 entries of an index.
const WEIGHT_OF_ONE: u64 = 500_000;
/// Most weight of all documents: 1000 versions for 14 platforms each have less.
const WEIGHT: u64 = 5_000_000;
/// Most bytes that are unpacked of all archives together.
const UNPACKED: u64 = 32 * 1024 * 1024 * 1024;

/// What may still be read in this run.
pub(super) struct ReadBudget {
    bytes: AtomicU64,
    weight: AtomicU64,
    /// Bytes that may still be unpacked.
    pub(super) unpacked: Arc<AtomicU64>,
}

impl ReadBudget {
    pub(super) fn new() -> Self {
        Self {
            bytes: AtomicU64::new(BYTES),
            weight: AtomicU64::new(WEIGHT),
            unpacked: Arc::new(AtomicU64::new(UNPACKED)),
        }
    }

    /// Refuses further requests if a limit was reached.
    pub(super) fn require_left(&self) -> Result<(), ReadFault> {
        let spent = [&self.bytes, &self.weight].into_iter().any(|left| left.load(Ordering::Relaxed) == 0);
        if spent { Err(too_much()) } else { Ok(()) }
    }

    /// Counts a document before it is parsed.
    pub(super) async fn take(&self, bytes: &[u8]) -> Result<(), ReadFault> {
        // Yields between two documents, so that an interruption is seen.
        tokio::task::yield_now().await;
        let weight = weight(bytes);
        if weight > WEIGHT_OF_ONE {
            return Err(ReadFault::new(FaultKind::NotRead, "it was not read: it has too many members and elements"));
        }
        let fits = spend(&self.bytes, bytes.len() as u64) & spend(&self.weight, weight);
        if fits { Ok(()) } else { Err(too_much()) }
    }
}

fn too_much() -> ReadFault {
    ReadFault::new(FaultKind::NotRead, "it was not read: the manifests before it were too much together")
}

/// Takes from what is left. A value that does not fit takes everything.
pub(super) fn spend(left: &AtomicU64, amount: u64) -> bool {
    let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(amount)));
    before.is_ok_and(|before| before >= amount)
}

/// How much memory a document takes once it is parsed, without parsing it.
fn weight(bytes: &[u8]) -> u64 {
    let (mut weight, mut text, mut escaped) = (0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            _ if text => {}
            b'{' => weight += 16,
            b'[' | b',' => weight += 4,
            _ => {}
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::{ReadBudget, weight};

    #[test]
    fn commas_in_texts_weigh_nothing() {
        assert_eq!(weight(br#"{"a,[{\\\",{":[1,"}{"]}"#), 16 + 4 + 4);
    }

    #[tokio::test]
    async fn a_manifest_of_nested_empty_arrays_is_not_parsed() {
        let hostile = format!("[{}]", vec!["[]"; 1_700_000].join(","));
        let budget = ReadBudget::new();
        assert!(budget.take(hostile.as_bytes()).await.is_err());
        assert!(budget.require_left().is_ok(), "one such document does not keep the others from being read");
    }

    #[tokio::test]
    async fn many_manifests_that_are_large_once_parsed_are_not_all_read() {
        let large = format!("[{}]", vec!["[]"; 60_000].join(","));
        let budget = ReadBudget::new();
        let mut read = 0;
        while budget.take(large.as_bytes()).await.is_ok() {
            read += 1;
        }
        assert_eq!((read, budget.require_left().is_err()), (10, true));
    }
}

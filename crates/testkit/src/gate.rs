//! A gate that holds requests until the test opens it: order without sleeping.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds every request that reaches it until [`Gate::open`]; stays open afterwards. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
    arrived: Arc<watch::Sender<usize>>,
}

impl Gate {
    /// A closed gate.
    pub fn closed() -> Self {
        Self { open: Arc::new(watch::Sender::new(false)), arrived: Arc::new(watch::Sender::new(0)) }
    }

    /// Lets everything through, now and later.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// How many requests have reached the gate so far.
    pub fn arrivals(&self) -> usize {
        *self.arrived.borrow()
    }

    /// Waits until at least `count` requests have reached the gate. Works on any tokio runtime.
    pub async fn arrived(&self, count: usize) {
        let mut arrivals = self.arrived.subscribe();
        arrivals.wait_for(|seen| *seen >= count).await.expect("the gate holds the sending half itself");
    }

    /// Registers the arrival and waits for the gate to open.
    pub(crate) async fn pass(&self) {
        self.arrived.send_modify(|count| *count += 1);
        let mut open = self.open.subscribe();
        open.wait_for(|open| *open).await.expect("the gate holds the sending half itself");
    }
}

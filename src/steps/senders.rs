//! Resources as they were sent, for what is said later under their name.
//!
//! Invariant: a resource is copied once for as long as it is remembered; bounded in number and in bytes.

use bytes::Bytes;
use hashbrown::HashMap;

use crate::otlp::ResourceView;

/// Resources remembered; when full, all go.
const ENTRIES: usize = 256;
/// Larger ones are not copied: what is said later names their service only.
const BYTES: usize = 16 << 10;
/// Different resources told of one body.
const OF_ONE_BODY: usize = 1024;

/// The resources of one reader.
#[derive(Debug, Default)]
pub(super) struct Senders {
    known: HashMap<u64, Bytes, foldhash::fast::FixedState>,
    met: Vec<(u64, Bytes)>,
}

impl Senders {
    /// A body begins.
    pub(super) fn begin(&mut self) {
        self.met.clear();
    }

    /// A step of this resource was read.
    pub(super) fn meet(&mut self, hash: u64, resource: &ResourceView<'_>) {
        if self.met.len() >= OF_ONE_BODY || self.met.iter().any(|(met, _)| *met == hash) {
            return;
        }
        if let Some(bytes) = self.known.get(&hash) {
            self.met.push((hash, bytes.clone()));
            return;
        }
        let bytes = resource.encode();
        if bytes.len() > BYTES {
            return;
        }
        if self.known.len() >= ENTRIES {
            self.known.clear();
        }
        let bytes = Bytes::from(bytes);
        self.known.insert(hash, bytes.clone());
        self.met.push((hash, bytes));
    }

    /// The resources met in the body that ends.
    pub(super) fn end(&mut self) -> Vec<(u64, Bytes)> {
        std::mem::take(&mut self.met)
    }
}

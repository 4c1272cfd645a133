//! Who sent spans of late, as it was sent: a finding whose span has left goes out under the same resource.

use bytes::Bytes;
use foldhash::quality::RandomState;
use hashbrown::HashMap;

/// Bytes of one generation.
const BYTES: usize = 2 << 20;
/// Entries of one generation.
const ENTRIES: usize = 8192;

/// Resources by their hash, in two generations: what was not met for a whole one is forgotten.
#[derive(Debug, Default)]
pub(super) struct Resources {
    young: HashMap<u64, Bytes, RandomState>,
    old: HashMap<u64, Bytes, RandomState>,
    bytes: usize,
}

impl Resources {
    /// A step of this resource came.
    pub(super) fn meet(&mut self, hash: u64, bytes: &Bytes) {
        if self.young.contains_key(&hash) {
            return;
        }
        if self.bytes + bytes.len() > BYTES || self.young.len() >= ENTRIES {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += bytes.len();
        self.young.insert(hash, bytes.clone());
    }

    /// The resource of this hash.
    pub(super) fn get(&self, hash: u64) -> Option<&Bytes> {
        self.young.get(&hash).or_else(|| self.old.get(&hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_stays_and_the_rest_goes_in_time() {
        let mut resources = Resources::default();
        let bytes = Bytes::from(vec![0; 1 << 16]);
        for n in 0..200 {
            resources.meet(n, &bytes);
            resources.meet(1000, &bytes);
        }
        assert!(resources.get(1000).is_some() && resources.get(199).is_some());
        assert!(resources.get(0).is_none());
        assert!(resources.young.len() + resources.old.len() <= 2 * (BYTES >> 16));
    }
}

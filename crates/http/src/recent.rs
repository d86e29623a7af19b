//! A map that forgets what was used longest ago.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A map with a bound. A long-lived process keeps one for each kind of thing that others make up: names, tokens.
pub struct RecentMap<K, V> {
    entries: HashMap<K, (V, u64)>,
    uses: u64,
    most: usize,
}

impl<K: Clone + Eq + Hash, V> RecentMap<K, V> {
    /// An empty map that keeps so many values, at least 1.
    pub fn new(most: usize) -> Self {
        Self { entries: HashMap::new(), uses: 0, most }
    }

    /// The value; it counts as used.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.uses += 1;
        let (value, used) = self.entries.get_mut(key)?;
        *used = self.uses;
        Some(value)
    }

    /// The value, which is made if it is missing; it counts as used.
    pub fn get_or_insert(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        self.uses += 1;
        if !self.entries.contains_key(key) {
            self.make_room();
        }
        let (value, used) = self.entries.entry(key.clone()).or_insert_with(|| (make(), 0));
        *used = self.uses;
        value
    }

    /// All keys and values, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.entries.iter().map(|(key, (value, _))| (key, value))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    fn make_room(&mut self) {
        while self.entries.len() >= self.most.max(1) {
            let oldest = self.entries.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.entries.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_is_forgotten_first() {
        let mut map = RecentMap::new(2);
        for key in ["one", "two"] {
            map.get_or_insert(&key, || key.len());
        }
        map.get("one");
        map.get_or_insert(&"three", || 5);
        let mut keys: Vec<_> = map.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["one", "three"]);
        assert_eq!(map.get("two"), None);
        *map.get_or_insert(&"one", || 0) += 1;
        assert_eq!(map.get("one"), Some(&mut 4));
    }
}

//! Values by a small number, all in one list.

/// For each key in `0..keys`, its values in the order in which they were given.
#[derive(Debug, Default)]
pub(super) struct Grouped<T> {
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T> Grouped<T> {
    pub fn of(keys: usize, mut pairs: Vec<(u32, T)>) -> Self {
        pairs.sort_by_key(|(key, _)| *key);
        let mut starts = vec![0; keys + 1];
        pairs.iter().for_each(|(key, _)| starts[*key as usize + 1] += 1);
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        Self { starts, values: pairs.into_iter().map(|(_, value)| value).collect() }
    }

    pub fn group(&self, key: usize) -> &[T] {
        &self.values[self.starts[key] as usize..self.starts[key + 1] as usize]
    }
}

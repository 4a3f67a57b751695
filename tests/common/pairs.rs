//! Pairs whose sides die.

/// Drops 3 keys and 4 values in several orders. There is a map of each key to each value, one value for each
/// map; `look` gets each map after each death, with the sides that are left, and `end` each map at the end.
pub fn end_in_any_order<K, V, M>(look: impl Fn(&M, &[Option<K>], &Option<V>), end: impl Fn(M))
where
    K: From<usize>,
    V: From<usize>,
    M: for<'a> FromIterator<(&'a K, &'a V)>,
{
    let (k, v) = (true, false);
    for order in [
        [(k, 0), (k, 1), (k, 2), (v, 0), (v, 1), (v, 2), (v, 3)],
        [(v, 0), (v, 1), (v, 2), (v, 3), (k, 0), (k, 1), (k, 2)],
        [(k, 1), (v, 3), (v, 0), (k, 0), (v, 2), (k, 2), (v, 1)],
    ] {
        let keys: Vec<K> = (0..3).map(K::from).collect();
        let values: Vec<V> = (0..4).map(V::from).collect();
        let to = |value| keys.iter().map(|key| (key, value)).collect();
        let maps: Vec<M> = values.iter().map(to).collect();
        let mut keys: Vec<_> = keys.into_iter().map(Some).collect();
        let mut values: Vec<_> = values.into_iter().map(Some).collect();
        for (is_key, n) in order {
            if is_key {
                keys[n] = None;
            } else {
                values[n] = None;
            }
            for (map, value) in maps.iter().zip(&values) {
                look(map, &keys, value);
            }
        }
        maps.into_iter().for_each(&end);
    }
}

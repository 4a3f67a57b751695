// rustc proposes `&Strong::new(1)`. The documentation of each `insert` says that the new object then dies at once, and
// names the method that takes a handle by value: no note of ours can be shown with this error.
//~ expected `&Strong<i32, Atomic>`, found `Strong<{integer}, Atomic>`
use weakly::{Strong, WeakValueMap, concurrent::WeakMap};

pub fn numbers(by_name: &mut WeakValueMap<&str, Strong<i32>>, names: &WeakMap<Strong<i32>, &str>) {
    by_name.insert("one", Strong::new(1));
    names.insert(Strong::new(1), "one");
}

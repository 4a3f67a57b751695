//! The hasher of collections that are keyed by content: a script may ask for one with few hashes, and the collections are the
//! same types.

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};

use weakly::DefaultHashBuilder;

/// A hasher in a script.
pub trait Hashing: BuildHasher + Default + Clone + 'static {}

impl Hashing for Few {}

thread_local! {
    static FEW: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Runs something whose new hashers have so many hashes: contents collide, up to the last bit.
pub fn with_hashes<R>(hashes: u64, run: impl FnOnce() -> R) -> R {
    struct Restores;
    impl Drop for Restores {
        fn drop(&mut self) {
            FEW.set(None);
        }
    }
    FEW.set(Some(hashes));
    let _restores = Restores;
    run()
}

/// A hasher that has few hashes, if these were asked for when it was made.
#[derive(Clone)]
pub struct Few<H = DefaultHashBuilder> {
    all: H,
    few: Option<u64>,
}

impl Default for Few {
    fn default() -> Self {
        Few {
            all: DefaultHashBuilder::default(),
            few: FEW.get(),
        }
    }
}

impl BuildHasher for Few {
    type Hasher = Few<<DefaultHashBuilder as BuildHasher>::Hasher>;

    fn build_hasher(&self) -> Self::Hasher {
        Few {
            all: self.all.build_hasher(),
            few: self.few,
        }
    }
}

impl<H: Hasher> Hasher for Few<H> {
    fn finish(&self) -> u64 {
        let hash = self.all.finish();
        self.few.map_or(hash, |few| hash % few)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.all.write(bytes);
    }
}

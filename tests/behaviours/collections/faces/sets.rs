//! The sets, and the interner.

use super::*;

macro_rules! sets {
    ($name:ident($inner:ident), $by_content:expr, |$ghost:ident| $name_of:expr) => {
        impl<P: Kind> Collection for $name<P> {
            const BY_CONTENT: bool = $by_content;
            housekeeping!($inner);

            fn enter(&mut self, life: &Key<P>, _: &Ends) {
                self.inner.insert(life);
            }
            fn has(&self, $ghost: &Ghost<P>) -> bool {
                let found = self.inner.get($name_of);
                assert_eq!(self.inner.contains($name_of), found.is_some());
                found.is_some()
            }
            fn iter(&self) -> impl Iterator<Item = Key<P>> + Clone {
                self.inner.iter()
            }
        }

        impl<P: Kind> Changing for $name<P>
        where
            Key<P>: PartialEq,
        {
            taking!(|life| life, |life| **life);

            fn leave(&mut self, $ghost: &Ghost<P>) -> bool {
                self.inner.remove($name_of)
            }
            fn extend_from(&mut self, other: Self) {
                self.inner.extend(other.inner);
            }
            fn extend<'a>(&mut self, lives: impl IntoIterator<Item = &'a Key<P>>, _: &Ends) {
                self.inner.extend(lives);
            }
            fn weak(&self) -> impl Iterator<Item = <Key<P> as StrongRef>::Weak> {
                self.inner.iter_weak()
            }
            fn views(self) -> Vec<Vec<usize>> {
                let number = |life: Key<P>| *life;
                vec![
                    sorted((&self.inner).into_iter().map(number)),
                    sorted(self.inner.iter_weak().map(payload)),
                    sorted(self.inner.clone().extract_if(|_| true).map(number)),
                    sorted(self.inner.clone().drain().map(number)),
                    sorted(self.inner.into_iter().map(number)),
                ]
            }
        }
    };
}

sets!(Sets(WeakSet), false, |ghost| &ghost.weak);
sets!(HashSets(WeakHashSet), true, |ghost| &ghost.number);

/// (It inserts no entry in the place of another: the existing one stays.)
impl<P: Kind> Collection for Interners<P> {
    housekeeping!(Interner);

    fn enter(&mut self, life: &Key<P>, _: &Ends) {
        self.inner.intern(life.clone());
    }
    fn has(&self, ghost: &Ghost<P>) -> bool {
        self.inner.get(&ghost.number).is_some()
    }
    fn iter(&self) -> impl Iterator<Item = Key<P>> + Clone {
        self.inner.iter()
    }
}

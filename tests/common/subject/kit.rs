//! The subjects as objects. A test that only needs operations is compiled once, and not for each collection and kind of
//! handle: it takes a [`Kit`](super::single::Kit), which makes the collection and the handles. Each family has its own.

/// Makes `Handle`, `WeakHandle`, `Collection` and `Kit` of a family, from its typed trait and its kinds of handles.
macro_rules! kit {
    ($typed:ident($($mut:ident)?) [$($super:tt)*] [$($send:tt)*] {$($method:ident($($n:ident: $type:ty)?) -> $result:ty;)*}
     $($kind:ident: $strong:ty),*) => {
        /// A handle of any kind to an object that entries live as long as.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Handle {
            $($kind($strong)),*
        }

        /// What a [`Handle`] leaves when it is downgraded.
        #[derive(Clone)]
        pub enum WeakHandle {
            $($kind(<$strong as WeakKey>::Weak)),*
        }

        impl Deref for Handle {
            type Target = usize;
            fn deref(&self) -> &usize {
                match self {
                    $(Handle::$kind(strong) => strong),*
                }
            }
        }

        impl Handle {
            pub fn downgrade(&self) -> WeakHandle {
                match self {
                    $(Handle::$kind(strong) => WeakHandle::$kind(WeakKey::downgrade(strong))),*
                }
            }
            /// How many strong handles and how many weak ones (with entries) the object has.
            pub fn counts(&self) -> (usize, usize) {
                match self {
                    $(Handle::$kind(strong) => Life::counts(strong)),*
                }
            }
            /// Whether both are handles to the same object.
            pub fn is(&self, other: &Self) -> bool {
                std::ptr::eq(&raw const **self, &raw const **other)
            }
        }

        impl WeakHandle {
            pub fn upgrade(&self) -> Option<Handle> {
                match self {
                    $(WeakHandle::$kind(weak) => WeakRef::upgrade(weak).map(Handle::$kind)),*
                }
            }
            pub fn is_alive(&self) -> bool {
                self.upgrade().is_some()
            }
        }

        /// The kinds of handles that a [`Handle`] may be.
        pub trait Known: Life + Deref<Target = usize> {
            fn known(handle: &Handle) -> &Self;
            fn known_weak(handle: &WeakHandle) -> &Self::Weak;
            fn handle(self) -> Handle;
            fn weak_handle(weak: Self::Weak) -> WeakHandle;
        }

        $(impl Known for $strong {
            fn known(handle: &Handle) -> &Self {
                match handle {
                    Handle::$kind(strong) => strong,
                    _ => panic!("this collection has other handles"),
                }
            }
            fn known_weak(handle: &WeakHandle) -> &Self::Weak {
                match handle {
                    WeakHandle::$kind(weak) => weak,
                    _ => panic!("this collection has other handles"),
                }
            }
            fn handle(self) -> Handle {
                Handle::$kind(self)
            }
            fn weak_handle(weak: Self::Weak) -> WeakHandle {
                WeakHandle::$kind(weak)
            }
        })*

        /// A collection of any type, with handles of any kind.
        pub trait Collection: $($super)* {
            /// Whether a lookup by this life finds it.
            fn has(&self, life: &Handle) -> bool;
            /// Whether a lookup finds anything by what is left of a life that may be over.
            fn finds(&self, number: usize, weak: &WeakHandle) -> bool;
            /// Inserts an entry that lives as long as `life`; returns whether it is new.
            fn enter(&$($mut)? self, life: &Handle, ends: &Ends) -> bool;
            /// Removes an entry; returns whether it was there.
            fn leave(&$($mut)? self, life: &Handle) -> bool;
            /// The same by what is left of a life that may be over.
            fn leaves(&$($mut)? self, number: usize, weak: &WeakHandle) -> bool;
            /// The lives of the entries.
            fn iter(&self) -> Box<dyn Iterator<Item = Handle> + $($send)* '_>;
            $(fn $method(&self $(, $n: $type)?) -> $result;)*

            /// An entry for each life.
            fn enter_all(&$($mut)? self, lives: &[Handle], ends: &Ends) {
                for life in lives {
                    self.enter(life, ends);
                }
            }
            /// Whether it finds an object by what will be left of it.
            fn contains(&self, life: &Handle) -> bool {
                self.finds(**life, &life.downgrade())
            }
            /// The numbers that an iterator shows, in order.
            fn numbers(&self) -> Vec<usize> {
                numbers(self.iter())
            }
        }

        /// The numbers of these lives, in order.
        pub fn numbers<'a>(lives: Box<dyn Iterator<Item = Handle> + $($send)* 'a>) -> Vec<usize> {
            sorted(lives.map(|life| *life))
        }

        impl<C: $typed<Life: Known> + 'static> Collection for C {
            fn has(&self, life: &Handle) -> bool {
                Subject::has(self, Known::known(life))
            }
            fn finds(&self, number: usize, weak: &WeakHandle) -> bool {
                Subject::finds(self, &number, C::Life::known_weak(weak))
            }
            fn enter(&$($mut)? self, life: &Handle, ends: &Ends) -> bool {
                $typed::enter(self, Known::known(life), ends)
            }
            fn leave(&$($mut)? self, life: &Handle) -> bool {
                $typed::leave(self, Known::known(life))
            }
            fn leaves(&$($mut)? self, number: usize, weak: &WeakHandle) -> bool {
                $typed::leaves(self, &number, C::Life::known_weak(weak))
            }
            fn iter(&self) -> Box<dyn Iterator<Item = Handle> + $($send)* '_> {
                Box::new($typed::iter(self).map(Known::handle))
            }
            $(fn $method(&self $(, $n: $type)?) -> $result {
                $typed::$method(self $(, $n)?)
            })*
        }

        /// What a test makes its collections and their lives by. `D` says what the collections can: it is [`Collection`],
        /// or a trait with more that extends it.
        pub struct Kit<D: ?Sized = dyn Collection> {
            make: fn(usize) -> Box<D>,
            life: fn(usize) -> Handle,
            /// Whether deaths are notified.
            pub notifies: bool,
            /// Whether a collection owns something of each entry.
            pub owns: bool,
            /// Whether entries are keyed by content, and not by the object that is their life.
            pub by_content: bool,
            /// How often an instalment counts an entry whose life has ended.
            pub counted: usize,
        }

        impl<D: ?Sized> Clone for Kit<D> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<D: ?Sized> Copy for Kit<D> {}

        impl<D: ?Sized> Kit<D> {
            /// The kit for this collection, which `make` makes with a capacity.
            pub fn for_type<C: $typed<Life: Known>>(make: fn(usize) -> Box<D>) -> Self {
                Kit {
                    make,
                    life: |number| C::Life::from(number).handle(),
                    notifies: C::NOTIFIES,
                    owns: C::OWNS,
                    by_content: C::BY_CONTENT,
                    counted: C::COUNTED,
                }
            }
            pub fn with_capacity(self, capacity: usize) -> Box<D> {
                (self.make)(capacity)
            }
            pub fn empty(self) -> Box<D> {
                self.with_capacity(0)
            }
            /// A new object.
            pub fn life(self, number: usize) -> Handle {
                (self.life)(number)
            }
            /// The objects `0..n`.
            pub fn lives(self, n: usize) -> Vec<Handle> {
                (0..n).map(self.life).collect()
            }
            /// `n` if it owns something of each entry, else nothing.
            pub fn owned(self, n: usize) -> usize {
                if self.owns { n } else { 0 }
            }
            /// `n` if deaths are notified, else nothing.
            pub fn notified(self, n: usize) -> usize {
                if self.notifies { n } else { 0 }
            }
        }

        impl<D: Collection + ?Sized> Kit<D> {
            /// A collection that has an entry for each life.
            pub fn of<'a>(self, lives: impl IntoIterator<Item = &'a Handle>, ends: &Ends) -> Box<D> {
                #[allow(unused_mut)] // where threads share it
                let mut all = self.empty();
                for life in lives {
                    all.enter(life, ends);
                }
                all
            }
            /// A collection with the entries `0..n`, and their lives.
            pub fn numbered(self, n: usize) -> (Box<D>, Vec<Handle>) {
                let lives = self.lives(n);
                (self.of(&lives, &quietly()), lives)
            }
        }
    };
}

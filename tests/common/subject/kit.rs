//! The subjects as objects. A test that only needs operations is compiled once, and not for each collection and kind of
//! handle: it takes a [`Kit`](super::single::Kit), which makes the collection and the handles. Each family has its own.

/// Makes `Handle`, `WeakHandle`, `Collection` and `Kit` of a family, from its typed trait and its kinds of handles.
macro_rules! kit {
    ($typed:ident($($mut:ident)?) [$($super:tt)*] [$($send:tt)*] {$($method:ident($($n:ident: $type:ty)?) -> $result:ty;)*}
     $($kind:ident: $strong:ty),*) => {
        /// A handle of any kind to an object that entries live as long as.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Handle<T: Content = usize> {
            $($kind($strong)),*
        }

        /// What a [`Handle`] leaves when it is downgraded.
        #[derive(Clone)]
        pub enum WeakHandle<T: Content = usize> {
            $($kind(<$strong as WeakKey>::Weak)),*
        }

        impl<T: Content> Deref for Handle<T> {
            type Target = T;
            fn deref(&self) -> &T {
                match self {
                    $(Handle::$kind(strong) => strong),*
                }
            }
        }

        impl<T: Content> Handle<T> {
            pub fn downgrade(&self) -> WeakHandle<T> {
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

        impl<T: Content> WeakHandle<T> {
            pub fn upgrade(&self) -> Option<Handle<T>> {
                match self {
                    $(WeakHandle::$kind(weak) => WeakRef::upgrade(weak).map(Handle::$kind)),*
                }
            }
            pub fn is_alive(&self) -> bool {
                self.upgrade().is_some()
            }
        }

        /// The kinds of handles that a [`Handle`] may be.
        pub trait Known<T: Content = usize>: Life<T> {
            fn known(handle: &Handle<T>) -> &Self;
            fn known_weak(handle: &WeakHandle<T>) -> &Self::Weak;
            fn handle(self) -> Handle<T>;
            fn weak_handle(weak: Self::Weak) -> WeakHandle<T>;
        }

        $(impl<T: Content> Known<T> for $strong {
            fn known(handle: &Handle<T>) -> &Self {
                match handle {
                    Handle::$kind(strong) => strong,
                    _ => panic!("this collection has other handles"),
                }
            }
            fn known_weak(handle: &WeakHandle<T>) -> &Self::Weak {
                match handle {
                    WeakHandle::$kind(weak) => weak,
                    _ => panic!("this collection has other handles"),
                }
            }
            fn handle(self) -> Handle<T> {
                Handle::$kind(self)
            }
            fn weak_handle(weak: Self::Weak) -> WeakHandle<T> {
                WeakHandle::$kind(weak)
            }
        })*

        /// A collection of any type, with handles of any kind.
        pub trait Collection<T: Content + From<usize> = usize>: $($super)* {
            /// Whether a lookup by this life finds it.
            fn has(&self, life: &Handle<T>) -> bool;
            /// Whether a lookup finds anything by what is left of a life that may be over.
            fn finds(&self, number: usize, weak: &WeakHandle<T>) -> bool;
            /// Inserts an entry that lives as long as `life`; returns whether it is new.
            fn enter(&$($mut)? self, life: &Handle<T>, ends: &Ends) -> bool;
            /// Removes an entry; returns whether it was there.
            fn leave(&$($mut)? self, life: &Handle<T>) -> bool;
            /// The same by what is left of a life that may be over.
            fn leaves(&$($mut)? self, number: usize, weak: &WeakHandle<T>) -> bool;
            /// The lives of the entries.
            fn iter(&self) -> Box<dyn Iterator<Item = Handle<T>> + $($send)* '_>;
            $(fn $method(&self $(, $n: $type)?) -> $result;)*

            /// An entry for each life.
            fn enter_all(&$($mut)? self, lives: &[Handle<T>], ends: &Ends) {
                for life in lives {
                    self.enter(life, ends);
                }
            }
            /// Whether it finds an object by what will be left of it.
            fn contains(&self, life: &Handle<T>) -> bool {
                self.finds(life.number(), &life.downgrade())
            }
            /// The numbers that an iterator shows, in order.
            fn numbers(&self) -> Vec<usize> {
                numbers(self.iter())
            }
        }

        /// The numbers of these lives, in order.
        pub fn numbers<'a, T: Content>(lives: Box<dyn Iterator<Item = Handle<T>> + $($send)* 'a>) -> Vec<usize> {
            sorted(lives.map(|life| life.number()))
        }

        impl<T: Content + From<usize>, C: $typed<T, Life: Known<T>> + 'static> Collection<T> for C {
            fn has(&self, life: &Handle<T>) -> bool {
                Subject::has(self, Known::known(life))
            }
            fn finds(&self, number: usize, weak: &WeakHandle<T>) -> bool {
                Subject::finds(self, &T::from(number), C::Life::known_weak(weak))
            }
            fn enter(&$($mut)? self, life: &Handle<T>, ends: &Ends) -> bool {
                $typed::enter(self, Known::known(life), ends)
            }
            fn leave(&$($mut)? self, life: &Handle<T>) -> bool {
                $typed::leave(self, Known::known(life))
            }
            fn leaves(&$($mut)? self, number: usize, weak: &WeakHandle<T>) -> bool {
                $typed::leaves(self, &T::from(number), C::Life::known_weak(weak))
            }
            fn iter(&self) -> Box<dyn Iterator<Item = Handle<T>> + $($send)* '_> {
                Box::new($typed::iter(self).map(Known::handle))
            }
            $(fn $method(&self $(, $n: $type)?) -> $result {
                $typed::$method(self $(, $n)?)
            })*
        }

        /// What a test makes its collections and their lives by. `D` says what the collections can: it is [`Collection`],
        /// or a trait with more that extends it.
        pub struct Kit<D: ?Sized = dyn Collection, T: Content = usize> {
            make: fn(usize) -> Box<D>,
            life: fn(T) -> Handle<T>,
            /// Whether deaths are notified.
            pub notifies: bool,
            /// Whether a collection owns something of each entry.
            pub owns: bool,
            /// Whether entries are keyed by content, and not by the object that is their life.
            pub by_content: bool,
            /// How often an instalment counts an entry whose life has ended.
            pub counted: usize,
        }

        impl<D: ?Sized, T: Content> Clone for Kit<D, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<D: ?Sized, T: Content> Copy for Kit<D, T> {}

        impl<D: ?Sized, T: Content + From<usize>> Kit<D, T> {
            /// The kit for this collection, which `make` makes with a capacity.
            pub fn for_type<C: $typed<T, Life: Known<T>>>(make: fn(usize) -> Box<D>) -> Self {
                Kit {
                    make,
                    life: |content| C::Life::from(content).handle(),
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
            /// A new object with this content.
            pub fn living(self, content: T) -> Handle<T> {
                (self.life)(content)
            }
            /// A new object.
            pub fn life(self, number: usize) -> Handle<T> {
                self.living(number.into())
            }
            /// The objects `0..n`.
            pub fn lives(self, n: usize) -> Vec<Handle<T>> {
                (0..n).map(|number| self.life(number)).collect()
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

        impl<D: Collection<T> + ?Sized, T: Content + From<usize>> Kit<D, T> {
            /// A collection that has an entry for each life.
            pub fn of<'a>(self, lives: impl IntoIterator<Item = &'a Handle<T>>, ends: &Ends) -> Box<D> {
                #[allow(unused_mut)] // where threads share it
                let mut all = self.empty();
                for life in lives {
                    all.enter(life, ends);
                }
                all
            }
            /// A collection with the entries `0..n`, and their lives.
            pub fn numbered(self, n: usize) -> (Box<D>, Vec<Handle<T>>) {
                let lives = self.lives(n);
                (self.of(&lives, &quietly()), lives)
            }
        }
    };
}

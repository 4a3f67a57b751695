//! Names, attributes and macros in the user's code: what confuses derives.
// What the derive writes warns of nothing.
#![deny(warnings)]
#![allow(dead_code)]

/// 675: Names of the user are not those of the expansion.
mod shadowed {
    #![allow(non_camel_case_types, non_upper_case_globals)]

    use ::weakly::cycles::Trace as Shows;

    use crate::{Key, goes};

    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod alloc {}
    pub(super) mod weakly {}
    pub(super) struct Tracer;
    pub(super) struct Vec;
    pub(super) struct str;
    pub(super) trait Trace {}
    pub(super) const tracer: u8 = 1;
    pub(super) const this: u8 = 1;
    pub(super) const __tracer: u8 = 1;
    pub(super) const __0: u8 = 1;

    /// Methods that each type has.
    pub(super) trait Everywhere {
        fn trace(&self, _: u8) -> u8 {
            1
        }
        fn field(self, _: u8) -> u8
        where
            Self: Sized,
        {
            1
        }
        fn each(self, _: u8) -> u8
        where
            Self: Sized,
        {
            1
        }
    }
    impl<T: ?Sized> Everywhere for T {}

    #[derive(Shows)]
    struct Named {
        tracer: Key,
        __weakly: Key,
        __weakly_0: Key,
        each: Key,
        skip: Key,
        r#match: Key,
    }

    #[derive(Shows)]
    struct Option<T>(::std::option::Option<T>);

    #[derive(Shows)]
    enum Result<Trace, Tracer> {
        Ok(Trace),
        Err { error: Tracer, __weakly: Trace },
    }

    #[derive(Shows)]
    enum Strong {
        Rc(Key),
        Self_ { weakly: Key },
        r#fn(u8, Key),
    }

    #[derive(Shows)]
    struct r#type<r#T>(r#T);

    #[test]
    fn names() {
        assert!(goes(|key| Named {
            tracer: key.clone(),
            __weakly: key.clone(),
            __weakly_0: key.clone(),
            each: key.clone(),
            skip: key.clone(),
            r#match: key,
        }));
        assert!(goes(|key| Option(Some(key))));
        assert!(goes(|key| [
            Result::Ok(key.clone()),
            Result::Err {
                error: key.clone(),
                __weakly: key
            }
        ]));
        assert!(goes(|key| [
            Strong::Rc(key.clone()),
            Strong::Self_ {
                weakly: key.clone()
            },
            Strong::r#fn(1, key)
        ]));
        assert!(goes(r#type));
    }
}

/// 675: Attributes, visibilities and discriminants.
mod attributes {
    use weakly::cycles::Trace;

    use crate::{Key, fields, goes};

    /// A type, with `<` and `,` in its documentation.
    #[derive(Trace)]
    #[non_exhaustive]
    #[doc = "More"]
    pub(crate) struct Documented<#[cfg(test)] T, #[cfg(not(test))] Missing> {
        /// Of a field: `#[trace(skip)]`.
        #[doc(alias = "trace(skip)")]
        pub(crate) shown: T,
        #[cfg(not(test))]
        missing: Missing,
        #[cfg_attr(test, trace(skip))]
        pub(in crate::names) skipped: Foreign,
        #[cfg(test)]
        #[allow(unused)]
        pub(super) last: Key,
    }

    pub(crate) struct Foreign;

    #[derive(Trace)]
    pub(super) struct Tuple(
        pub (Key, u8),
        pub(crate) (Key, Key),
        pub(super) Key,
        #[cfg(not(test))] Missing,
        pub(in crate::names) Key,
    );

    const fn size<A, B>() -> u8 {
        (size_of::<A>() + size_of::<B>()) as u8
    }

    const LOW: u8 = 1;
    const HIGH: u8 = 20;

    #[derive(Trace)]
    #[repr(u8)]
    enum Numbered {
        /// Of a variant.
        One(Key) = 1 << 1,
        #[cfg(not(test))]
        Missing(Missing),
        Two(Key) = size::<[u8; 2], (u8, Option<u8>)>() + (HIGH > LOW) as u8,
        Three {
            key: Key,
        } = <u8 as Into2<u8, u8>>::NUMBER,
        #[allow(unused)]
        Four(Key) = { if LOW < HIGH && HIGH > 2 { HIGH } else { LOW } },
        Five(Key),
    }

    trait Into2<A, B> {
        const NUMBER: u8 = 7;
    }
    impl Into2<u8, u8> for u8 {}

    mod old {
        use super::{Key, Trace};

        #[deprecated]
        #[derive(Trace)]
        pub(super) struct Old {
            #[deprecated]
            pub(super) key: Key,
        }
    }

    #[derive(Trace)]
    pub(super) enum Older {
        #[deprecated]
        One(Key),
        Two {
            #[deprecated]
            key: Key,
        },
    }

    #[test]
    fn attributes() {
        assert!(goes(|key| Documented {
            shown: key.clone(),
            skipped: Foreign,
            last: key
        }));
        assert!(goes(|key| Tuple(
            (key.clone(), 1),
            (key.clone(), key.clone()),
            key.clone(),
            key
        )));
        assert_eq!(
            fields(|key| Tuple(
                (key.clone(), 1),
                (key.clone(), key.clone()),
                key.clone(),
                key
            ))
            .len(),
            5
        );
        assert!(goes(|key| [
            Numbered::One(key.clone()),
            Numbered::Two(key.clone()),
            Numbered::Three { key: key.clone() },
            Numbered::Four(key.clone()),
            Numbered::Five(key),
        ]));
        #[allow(deprecated)]
        {
            assert!(goes(|key| old::Old { key }));
            assert!(goes(|key| [Older::One(key.clone()), Older::Two { key }]));
        }
    }
}

/// 675: Types that macros by example write, from fragments of all kinds.
mod written_by_macros {
    use weakly::cycles::Trace;

    use crate::{Key, goes};

    pub(super) struct Foreign;

    macro_rules! structs {
        (
            $(#[$meta:meta])* $vis:vis struct $name:ident<$life:lifetime, $parameter:ident: $bound:path> {
                $(#[$of:meta])* $at:vis $field:ident: $type:ty,
                $second:ident: $generic:ident<$argument:ty>,
                $(#[$skip:meta])* $last:ident: $other:ty $(,)?
            }
            $constant:literal
        ) => {
            $(#[$meta])* $vis struct $name<$life, $parameter: $bound> where $type: Clone, $parameter: $life {
                $(#[$of])* $at $field: $type,
                $second: $generic<$argument>,
                $(#[$skip])* $last: $other,
                life: std::marker::PhantomData<&$life [$type; $constant]>,
            }
        };
    }

    structs! {
        /// Documented.
        #[derive(Trace)]
        #[doc(hidden)]
        pub(super) struct Written<'a, T: Clone> {
            /// Documented.
            pub(super) first: Option<T>,
            second: Vec<Box<T>>,
            #[trace(skip)]
            last: Foreign,
        }
        3
    }

    macro_rules! tuple {
        ($vis:vis $name:ident: $($type:ty),*; $($number:expr)?) => {
            #[derive(Trace)]
            $vis struct $name<T>($($vis $type,)* $vis T);
            const _: usize = 0 $(+ $number)?;
        };
    }
    tuple! { pub(super) Three: Vec<T>, (T, u8); 1 + 1 }

    macro_rules! enums {
        ($name:ident { $($variant:ident $body:tt = $number:expr,)* }) => {
            #[derive(Trace)]
            #[repr(u8)]
            enum $name { $($variant $body = $number,)* }
        };
    }
    enums! { Counted { One(Key) = 1 << 2, Two { key: Key } = 2, } }

    macro_rules! item {
        ($item:item) => {
            #[derive(Trace)]
            $item
        };
    }
    item! { struct Item<T> where T: Copy { t: PhantomKey<T>, key: Key } }
    item! { pub(super) enum Items { One(Key) } }
    type PhantomKey<T> = std::marker::PhantomData<(Key, T)>;

    /// A name of the macro, beside the same name of its user.
    macro_rules! hygienic {
        ($field:ident, $type:ty) => {
            #[derive(Trace)]
            struct Hygienic<T> {
                $field: $type,
                own: Vec<T>,
                of: Names!(T),
            }
        };
    }
    macro_rules! Names {
        ($type:ty) => { Option<$type> };
    }
    hygienic! { __weakly, Key }

    #[test]
    fn macros() {
        assert!(goes(|key| Written {
            first: Some(key.clone()),
            second: vec![Box::new(key)],
            last: Foreign,
            life: std::marker::PhantomData,
        }));
        assert!(goes(|key| Three(vec![key.clone()], (key.clone(), 1), key)));
        assert!(goes(|key| [
            Counted::One(key.clone()),
            Counted::Two { key }
        ]));
        assert!(goes(|key| Item {
            t: std::marker::PhantomData::<(Key, u8)>,
            key
        }));
        assert!(goes(Items::One));
        assert!(goes(|key| Hygienic {
            __weakly: key.clone(),
            own: vec![key.clone()],
            of: Some(key)
        }));
    }
}

/// 675: The crate may have another name, or be reached through another crate.
mod another_path {
    use weakly::cycles::Trace;

    mod facade {
        pub(super) mod inner {
            pub(crate) mod cycles {
                pub(crate) use weakly::cycles::Tracer;

                /// Not that of the crate.
                pub(crate) trait Trace {
                    fn trace(&self, tracer: &mut Tracer<'_>);
                }
                impl Trace for u8 {
                    fn trace(&self, _: &mut Tracer<'_>) {}
                }
            }
        }
    }

    #[derive(Trace)]
    #[trace(crate = self::facade::inner)]
    struct Reached<T> {
        t: T,
    }

    #[test]
    fn path() {
        fn is_that<T: facade::inner::cycles::Trace>(_: T) {}
        is_that(Reached { t: 1_u8 });
        assert_eq!(Reached { t: 1_u8 }.t, 1);
    }
}

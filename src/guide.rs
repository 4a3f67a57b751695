// Here the links lead to modules: the first definition of a link wins.
#![cfg_attr(doc, doc = "[`side_tables`]: self::side_tables")]
#![cfg_attr(doc, doc = "[`attributes`]: self::attributes")]
#![cfg_attr(doc, doc = "[`memo`]: self::memo")]
#![cfg_attr(doc, doc = "[`interning`]: self::interning")]
#![cfg_attr(doc, doc = "[`back_pointers`]: self::back_pointers")]
#![cfg_attr(doc, doc = "[`observers`]: self::observers")]
#![cfg_attr(doc, doc = "[`server_cache`]: self::server_cache")]
#![cfg_attr(doc, doc = "[`keep`]: self::keep")]
#![cfg_attr(doc, doc = "[`single_flight`]: self::single_flight")]
#![cfg_attr(doc, doc = "[`destruction`]: self::destruction")]
#![cfg_attr(doc, doc = "[`costs`]: self::costs")]
#![cfg_attr(doc, doc = "[`address_keys`]: self::address_keys")]
#![cfg_attr(doc, doc = "[`from_weak_table`]: self::from_weak_table")]
#![cfg_attr(doc, doc = "[`from_by_hand`]: self::from_by_hand")]
#![cfg_attr(doc, doc = "[`from_arc`]: self::from_arc")]
#![cfg_attr(doc, doc = "[`from_slotmap`]: self::from_slotmap")]
#![cfg_attr(doc, doc = "[`from_other_languages`]: self::from_other_languages\n\n")]
#![doc = include_str!("../docs/guide/index.md")]

macro_rules! chapters {
    ($($name:ident)*) => {$(
        pub mod $name {
            // Inside, so that links are relative to the chapter.
            #![doc = include_str!(concat!("../docs/guide/", stringify!($name), ".md"))]
        }
    )*};
}

chapters! {
    side_tables
    attributes
    memo
    interning
    back_pointers
    observers
    server_cache
    keep
    single_flight
    destruction
    costs
    address_keys
    from_weak_table
    from_by_hand
    from_arc
    from_slotmap
    from_other_languages
}

#[cfg(doc)]
#[doc = include_str!("../docs/DESIGN.md")]
#[doc = include_str!("../docs/SHARED.md")]
pub mod design {}

#[cfg(doc)]
#[doc = include_str!("../docs/ORDERINGS.md")]
pub mod orderings {}

#[cfg(doc)]
#[doc = include_str!("../docs/PICTURES.md")]
#[doc = include_str!("../docs/PERFORMANCE.md")]
pub mod performance {}

// `docs/guide` has the same chapters for the web view of the repository. `tests/house/guide.rs`
// writes them.
#![doc = include_str!("guide/index.md")]

macro_rules! chapters {
    ($($name:ident)*) => {$(
        pub mod $name {
            // Inside the module: so links are relative to the chapter.
            #![doc = include_str!(concat!("guide/", stringify!($name), ".md"))]
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
    shared
    keep
    single_flight
    destruction
    costs
    address_keys
    wrappers
    from_weak_table
    from_by_hand
    from_arc
    from_slotmap
    from_other_languages
}

#[cfg(doc)]
#[doc = include_str!("../docs/DESIGN.md")]
pub mod design {}

#[cfg(doc)]
#[doc = include_str!("../docs/PROTOCOLS.md")]
pub mod protocols {}

#[cfg(doc)]
#[doc = include_str!("../docs/PICTURES.md")]
#[doc = include_str!("../docs/PERFORMANCE.md")]
pub mod performance {}

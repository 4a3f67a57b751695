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
    memo
    interning
    back_pointers
    observers
    server_cache
    single_flight
    destruction
    costs
    from_weak_table
    from_by_hand
    from_arc
    from_other_languages
}

//! 676: A `#[trace(…)]` that the derive does not know is an error, at its place.
//~ `#[trace(…)]` of a type is `crate = path`
//~ `#[trace(…)]` of a type parameter is `skip`
//~ `#[trace(…)]` of a variant is `skip`
//~ `#[trace(…)]` of a field is `skip` or `each`
//~ derive_words.rs:24:9
//~ derive_words.rs:28:9
//~ derive_words.rs:32:32
//~ derive_words.rs:36:13
//~ derive_words.rs:44:13
//~ derive_words.rs:51:24
//~ derive_words.rs:55:20
//~ derive_words.rs:58:22
//~ derive_words.rs:61:20
//~ derive_words.rs:64:32
//~ derive_words.rs:67:29
//~ derive_words.rs:70:28
//~ derive_words.rs:73:41
//~ derive_words.rs:76:25
//~ aborting due to 14 previous errors
use weakly::cycles::Trace;

#[derive(Trace)]
#[trace(skip)]
pub struct OfType(u8);

#[derive(Trace)]
#[trace(crate)]
pub struct NoPath(u8);

#[derive(Trace)]
pub struct OfParameter<#[trace(each)] T>(T);

#[derive(Trace)]
pub enum OfVariant {
    #[trace(each)]
    Variant(u8),
}

#[derive(Trace)]
pub struct Unknown {
    /// Documented.
    #[doc(hidden)]
    #[trace(skipped)]
    pub field: u8,
}

#[derive(Trace)]
pub enum InVariant {
    First(u8),
    Second(u8, #[trace(other)] u8),
}

#[derive(Trace)]
pub struct Empty(#[trace()] u8);

#[derive(Trace)]
pub struct Nothing(#[trace] u8);

#[derive(Trace)]
pub struct Value(#[trace = "skip"] u8);

#[derive(Trace)]
pub struct OfWord(#[trace(skip = true)] u8);

#[derive(Trace)]
pub struct Call(#[trace(skip(true))] u8);

#[derive(Trace)]
pub struct Two(#[trace(skip, each)] u8);

#[derive(Trace)]
pub struct Twice(#[trace(each)] #[trace(skip)] u8);

#[derive(Trace)]
pub struct Text(#[trace("skip")] u8);

//! Lists of subjects, and of tests over them.

/// Makes a `#[test]` of each function, for each collection, for each kind of pointer:
/// `for_each_in!(kit [drain] [usize] [map: Maps] in [crate::single] with [atomic: Atomic])` gives `drain::map::atomic`,
/// which calls `drain` with the kit of that map. With `types` in the place of `kit`, `drain` is generic over the collection.
#[macro_export]
macro_rules! for_each_in {
    ($how:ident [$($test:ident)*] $content:tt $subjects:tt in $path:tt with $kinds:tt) => {$(
        mod $test {
            $crate::for_each_in! { @subjects $how $test $content $subjects in $path with $kinds }
        }
    )*};
    (@subjects $how:ident $test:ident $content:tt [$($name:ident: $subject:ident),*] in $path:tt with $kinds:tt) => {$(
        mod $name {
            $crate::for_each_in! { @kinds $how $test $content $subject in $path with $kinds }
        }
    )*};
    (@kinds $how:ident $test:ident $content:tt $subject:ident in $path:tt with [$($name:ident: $kind:ident),*]) => {$(
        $crate::for_each_in! { @one $name $kind $how $test $content $subject in $path }
    )*};
    // At any time: see `for_each_kind!`.
    (@one std_rc StdRc $how:ident $test:ident $content:tt Maps in $path:tt) => {
        $crate::for_each_in! { @made std_rc StdRc $how $test $content Maps in $path }
    };
    (@one std_rc StdRc $how:ident $test:ident $content:tt $subject:ident in $path:tt) => {
        #[cfg(weakly_other_handles)]
        $crate::for_each_in! { @made std_rc StdRc $how $test $content $subject in $path }
    };
    (@one $name:ident $kind:ident $how:ident $test:ident $content:tt $subject:ident in $path:tt) => {
        #[cfg(not(weakly_other_handles))]
        $crate::for_each_in! { @made $name $kind $how $test $content $subject in $path }
    };
    (@made $name:ident $kind:ident $how:ident $test:ident [$content:ty] $subject:ident in $path:tt) => {
        #[test]
        fn $name() {
            type Life = <$crate::common::$kind as $crate::common::Kind>::Strong<$content>;
            $crate::for_each_in! { @call $how $test $subject in $path }
        }
    };
    (@call types $test:ident $subject:ident in [$($path:tt)*]) => {
        super::super::$test::<$($path)*::$subject<Life>>()
    };
    (@call kit $test:ident $subject:ident in [$($path:tt)*]) => {
        type Subject = $($path)*::$subject<Life>;
        super::super::$test($($path)*::Kit::for_type::<Subject>(|capacity| {
            Box::new(<Subject as $crate::common::subject::Subject<_>>::with_capacity(capacity))
        }))
    };
}

/// Makes lists of collections: each a macro that calls [`for_each_in!`]. Its first argument is a `$`.
///
/// The functions of `for_each_set!(kit: a, b)` take a kit and are compiled once, and so are those of
/// `for_each_set!(kit<Content>: a, b)`, for objects with that content; those of `for_each_set!(a, b)` are generic over the
/// collection, and those of `for_each_set!(<Content> a, b)` over one of such objects.
#[macro_export]
macro_rules! subjects {
    ($d:tt in $path:tt; $($list:ident $kinds:tt $subjects:tt;)*) => {$(
        #[allow(unused_macros)] // a program uses a part of them
        macro_rules! $list {
            (kit: $d($d test:ident),* $d(,)?) => { $list! { kit<usize>: $d($d test),* } };
            (kit<$d content:ty>: $d($d test:ident),* $d(,)?) => {
                $crate::for_each_in! { kit [$d($d test)*] [$d content] $subjects in $path with $kinds }
            };
            (<$d content:ty> $d($d test:ident),* $d(,)?) => {
                $crate::for_each_in! { types [$d($d test)*] [$d content] $subjects in $path with $kinds }
            };
            ($d($d test:ident),* $d(,)?) => { $list! { <usize> $d($d test),* } };
        }
        #[allow(unused_imports)]
        pub(crate) use $list;
    )*};
}

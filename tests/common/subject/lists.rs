//! Lists of subjects, and of tests over them.

/// Makes a `#[test]` of each function, for each collection, for each kind of pointer:
/// `for_each_in!([drain] <usize> [map: Maps] in [crate::single] with [atomic: Atomic])` gives `drain::map::atomic`.
#[macro_export]
macro_rules! for_each_in {
    ([$($test:ident)*] $content:tt $subjects:tt in $path:tt with $kinds:tt) => {$(
        mod $test {
            $crate::for_each_in! { @subjects $test $content $subjects in $path with $kinds }
        }
    )*};
    (@subjects $test:ident $content:tt [$($name:ident: $subject:ident),*] in $path:tt with $kinds:tt) => {$(
        mod $name {
            $crate::for_each_in! { @kinds $test $content $subject in $path with $kinds }
        }
    )*};
    (@kinds $test:ident $content:tt $subject:ident in $path:tt with [$($name:ident: $kind:ident),*]) => {$(
        $crate::for_each_in! { @one $name $kind $test $content $subject in $path }
    )*};
    // At any time: see `for_each_kind!`.
    (@one std_rc StdRc $test:ident $content:tt Maps in $path:tt) => {
        $crate::for_each_in! { @made std_rc StdRc $test $content Maps in $path }
    };
    (@one std_rc StdRc $test:ident $content:tt $subject:ident in $path:tt) => {
        #[cfg(weakly_other_handles)]
        $crate::for_each_in! { @made std_rc StdRc $test $content $subject in $path }
    };
    (@one $name:ident $kind:ident $test:ident $content:tt $subject:ident in $path:tt) => {
        #[cfg(not(weakly_other_handles))]
        $crate::for_each_in! { @made $name $kind $test $content $subject in $path }
    };
    (@made $name:ident $kind:ident $test:ident [$content:ty] $subject:ident in [$($path:tt)*]) => {
        #[test]
        fn $name() {
            type Life = <$crate::common::$kind as $crate::common::Kind>::Strong<$content>;
            super::super::$test::<$($path)*::$subject<Life>>();
        }
    };
}

/// Makes lists of collections: each a macro, `for_each_set!(a, b)` or `for_each_set!(<Content> a, b)`, that calls
/// [`for_each_in!`]. Its first argument is a `$`.
#[macro_export]
macro_rules! subjects {
    ($d:tt in $path:tt; $($list:ident $kinds:tt $subjects:tt;)*) => {$(
        #[allow(unused_macros)] // a program uses a part of them
        macro_rules! $list {
            (<$d content:ty> $d($d test:ident),* $d(,)?) => {
                $crate::for_each_in! { [$d($d test)*] [$d content] $subjects in $path with $kinds }
            };
            ($d($d test:ident),* $d(,)?) => { $list! { <usize> $d($d test),* } };
        }
        #[allow(unused_imports)]
        pub(crate) use $list;
    )*};
}

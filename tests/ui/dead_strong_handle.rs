//~ is no weak handle
//~ pass the weak handle, which was made before the last strong one was dropped

pub fn check(strong: weakly::Strong<u8>) {
    weakly::assert_dead!(strong);
}

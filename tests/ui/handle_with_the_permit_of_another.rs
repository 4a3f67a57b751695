//~ expected `Permit<Even>`, found `Permit<Mine>`
use weakly::reference::{Identify, Identity, Notified, Notify, Permit, StrongRef, WeakKey, WeakRef};
use weakly::{Strong, Weak, impl_handle};

mod even {
    #[derive(Clone)]
    pub struct Even(super::Strong<u32>);
    #[derive(Clone)]
    pub struct WeakEven(super::Weak<u32>);
    super::impl_handle!(Even(super::Strong<u32>), WeakEven(super::Weak<u32>));
}

struct Mine(Strong<u32>, Option<even::Even>);
#[derive(Clone)]
struct WeakMine(Weak<u32>);

unsafe impl Notify for Mine {
    type Pointee = u32;
    type Flavour = weakly::ptr::Atomic;
    fn handle(this: &Self) -> &Strong<u32> {
        &this.0
    }
    fn from_handle(handle: Strong<u32>, permit: Permit<Self>) -> Self {
        let odd: even::Even = Notify::from_handle(Strong::new(7), permit);
        Mine(handle, Some(odd))
    }
    fn from_weak(weak: Weak<u32>, _: Permit<Self>) -> WeakMine {
        WeakMine(weak)
    }
}

unsafe impl WeakKey for Mine {
    type Watch = Notified<Self>;
    type Weak = WeakMine;
    fn addr(this: &Self) -> *const () {
        WeakKey::addr(&this.0)
    }
    fn downgrade(this: &Self) -> WeakMine {
        WeakMine(Strong::downgrade(&this.0))
    }
}
unsafe impl StrongRef for Mine {
    type Target = u32;
}
unsafe impl WeakRef for WeakMine {
    type Strong = Mine;
    fn upgrade(&self) -> Option<Mine> {
        self.0.upgrade().map(|it| Mine(it, None))
    }
    fn addr(&self) -> *const () {
        WeakRef::addr(&self.0)
    }
}
impl Identity for WeakMine {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}
impl Identify<Mine> for WeakMine {
    fn addr(this: &Self) -> *const () {
        Identify::<Strong<u32>>::addr(&this.0)
    }
}

//~ does not cross threads
use std::rc::Rc;
use weakly::Attribute;

pub static LENGTH: Attribute<Rc<str>, usize> = Attribute::new();

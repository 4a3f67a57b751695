//~ `Watch` is a "sealed trait"
//~ Notified<K>
//~ Swept<K>
use weakly::{Strong, reference::{Notified, Watch}};

pub struct Mine(Notified<Strong<str>>);

impl Watch for Mine {}

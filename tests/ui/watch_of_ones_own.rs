//~ `Watch` is a "sealed trait"
//~ Notified<K>
//~ Swept<K, F>
use weakly::{Strong, reference::{Notified, Watch}};

pub struct Mine(Notified<Strong<str>>);

impl Watch for Mine {}

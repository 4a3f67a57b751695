//! Rows of deaths that are delivered as messages.

use std::hint::black_box;
use std::sync::mpsc;

use weakly::{ReferenceQueue, Strong};

use super::MANY;
use crate::duel::{Row, time_each};

pub(super) fn all() -> Vec<Row> {
    vec![delivery()]
}

/// An object is registered, dies, and its message is taken out; against what people write with a finalizer.
fn delivery() -> Row {
    Row::new(
        "ReferenceQueue: new, register, drop, poll",
        "finalize, mpsc",
        |scale| {
            let operations = scale.of(MANY);
            let queue = ReferenceQueue::new();
            let (sender, receiver) = mpsc::channel();
            [
                Box::new(move || {
                    time_each(operations, || {
                        let object = Strong::new(black_box(7_u64));
                        queue.register(&object, 7_u64);
                        drop(object);
                        assert_eq!(black_box(queue.poll()), Some(7));
                    })
                }),
                Box::new(move || {
                    time_each(operations, || {
                        let object = Strong::new(black_box(7_u64));
                        let sender = sender.clone();
                        Strong::finalize(&object, move || _ = sender.send(7));
                        drop(object);
                        assert_eq!(black_box(receiver.try_recv()), Ok(7));
                    })
                }),
            ]
        },
    )
}

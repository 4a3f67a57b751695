//! Textures of a scene. A graphics library wants a texture released on the thread that created it, but the last
//! handle to a texture may be dropped by any of the workers that draw with it. A reference queue brings the news home:
//! each texture is registered with its number, and its death sends that number to the thread that owns the context.
//! It checks itself: `cargo run --release --example textures`

use std::collections::HashSet;
use std::io::Write;
use std::marker::PhantomData;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use weakly::{ReferenceQueue, Strong};

const TEXTURES: u32 = 10_000;
const WORKERS: usize = 4;

/// Names a texture inside the context.
type Name = u32;

/// Stands for a graphics context: only the thread that made it can use it.
#[derive(Default)]
struct Context {
    allocated: HashSet<Name>,
    released: usize,
    here: PhantomData<*const ()>,
}

impl Context {
    fn allocate(&mut self, name: Name) -> Texture {
        assert!(self.allocated.insert(name), "allocated twice");
        Texture { name }
    }

    fn release(&mut self, name: Name) {
        assert!(self.allocated.remove(&name), "released twice");
        self.released += 1;
    }
}

/// What the scene shares. It cannot release itself: it may die on another thread.
struct Texture {
    name: Name,
}

/// Draws with each texture it gets, and drops it; returns the sum of the names, as if it had drawn something.
fn draw(textures: &Receiver<Strong<Texture>>) -> u64 {
    textures.iter().map(|texture| u64::from(texture.name)).sum()
}

fn main() -> ExitCode {
    let mut context = Context::default();
    let released = ReferenceQueue::new();
    let drawn: u64 = thread::scope(|scope| {
        let (senders, workers): (Vec<_>, Vec<_>) = (0..WORKERS)
            .map(|_| {
                let (sender, textures) = channel();
                (sender, scope.spawn(move || draw(&textures)))
            })
            .unzip();
        for name in 0..TEXTURES {
            let texture = Strong::new(context.allocate(name));
            released.register(&texture, name);
            for sender in &senders {
                sender
                    .send(texture.clone())
                    .expect("the workers wait for it");
            }
            // Between two frames: whatever has died meanwhile.
            released.drain().for_each(|name| context.release(name));
        }
        drop(senders);
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"))
            .sum()
    });
    // The rest has died with the workers.
    released.drain().for_each(|name| context.release(name));
    let expected = WORKERS as u64 * (0..u64::from(TEXTURES)).sum::<u64>();
    let all = context.allocated.is_empty() && context.released == TEXTURES as usize;
    if drawn != expected || !all {
        eprintln!("drawn {drawn}, released {}", context.released);
        return ExitCode::FAILURE;
    }
    let mut out = std::io::stdout();
    let text = format!(
        "{TEXTURES} textures drawn by {WORKERS} workers, each released once, by the thread that created it (checked)\n"
    );
    match out.write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

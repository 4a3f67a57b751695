//! Side by side with peers.
fn main() {}

//! Entries that keep themselves alive: found, and removed (`purge_cycles`, `Cycles`). Behaviour 20: an entry whose value
//! owns its key stays until it is removed, or the maps are purged of cycles.

#[path = "cycles/graphs.rs"]
mod graphs;

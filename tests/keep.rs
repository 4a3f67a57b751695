//! What floors and ceilings must do. Each test's comment begins with the number of the behaviour it shows: those of section
//! O.

#[path = "keep/ceilings.rs"]
mod ceilings;
mod common;
#[path = "keep/floors.rs"]
mod floors;
#[path = "keep/tools.rs"]
mod tools;

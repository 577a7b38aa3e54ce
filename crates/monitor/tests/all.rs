//! The tests of this crate, in one program.

mod ispl;
mod lcc;
mod maps;

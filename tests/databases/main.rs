//! Databases: their files, how they are built, the values in them, and searches that use them.

mod build;
mod files;
mod search;
mod sweep;

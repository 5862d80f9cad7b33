//! Databases: the format, its reader and writer, and answers from databases.

mod damage;
mod databases;
mod format;
mod naive;
mod probe;

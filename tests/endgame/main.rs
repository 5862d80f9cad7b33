//! Databases: the format, its reader and writer, and answers from databases.

mod format;

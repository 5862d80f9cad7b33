//! `konane explore`, tested over TCP connections.

mod documented;
#[cfg(unix)]
mod lifetime;
mod page;
mod positions;
mod searches;
mod security;
mod server;

//! `konane explore`, over real connections.

mod documented;
#[cfg(unix)]
mod end;
mod page;
mod positions;
mod searches;
mod security;
mod server;

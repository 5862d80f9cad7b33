//! The page: every file of it, in the program.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file of the page.
#[derive(Debug)]
pub struct Asset {
    /// Its path in the address.
    pub path: &'static str,
    kind: &'static str,
    text: &'static str,
}

/// A list of files below `page`, by their names there.
macro_rules! assets {
    ($($name:literal: $kind:ident,)+) => {
        &[$(Asset { path: concat!("/", $name), kind: $kind, text: include_str!(concat!("page/", $name)) }),+]
    };
}

const CSS: &str = "text/css; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// All of them; the first one is the page itself, which is at `/` as well.
pub const ASSETS: &[Asset] = assets! {
    "index.html": HTML,
};

impl IntoResponse for &Asset {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}

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
    "style.css": CSS,
    "icon.svg": SVG,
    "js/api.js": JS,
    "js/board.js": JS,
    "js/charts.js": JS,
    "js/databases.js": JS,
    "js/dom.js": JS,
    "js/gameline.js": JS,
    "js/judge.js": JS,
    "js/konane.js": JS,
    "js/main.js": JS,
    "js/movelist.js": JS,
    "js/openings.js": JS,
    "js/opponent.js": JS,
    "js/picture.js": JS,
    "js/position.js": JS,
    "js/record.js": JS,
    "js/search.js": JS,
    "js/setup.js": JS,
    "js/sprouts.js": JS,
    "js/state.js": JS,
    "js/tabs.js": JS,
    "js/trace.js": JS,
    "js/why.js": JS,
    "js/words.js": JS,
};

impl IntoResponse for &Asset {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}

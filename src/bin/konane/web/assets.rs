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
    "icon.svg": SVG,
    "style.css": CSS,
    "js/api.js": JS,
    "js/bestline.js": JS,
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/konane/web/page");
        let mut found = Vec::new();
        for folder in ["", "js"] {
            for entry in fs::read_dir(page.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.strip_prefix(&page).unwrap().to_str().unwrap();
                    found.push(format!("/{}", name.replace('\\', "/")));
                }
            }
        }
        let mut listed: Vec<_> = ASSETS.iter().map(|asset| asset.path.to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(found, listed);
    }

    /// Behind a proxy that adds a prefix to all paths, an absolute path leads to another server.
    #[test]
    fn addresses_in_the_page_are_relative() {
        for asset in ASSETS {
            for quote in ['"', '\'', '`'] {
                let begin = format!("{quote}/");
                let mut absolute = asset.text.split(&begin).skip(1);
                let found =
                    absolute.find(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
                assert_eq!(found, None, "{}", asset.path);
            }
            assert!(!asset.text.contains("url(/"), "{}", asset.path);
        }
    }
}

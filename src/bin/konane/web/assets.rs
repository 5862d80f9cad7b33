//! Files of the page, which are embedded in the program.

use axum::http::header;
use axum::response::IntoResponse;

macro_rules! assets {
    ($($name:literal)+) => {
        &[$((concat!("/", $name), include_str!(concat!("page/", $name)))),+]
    };
}

/// URL paths and contents of the files. The first one is the page itself, which is also served at `/`.
pub const ASSETS: &[(&str, &str)] = assets! {
    "index.html" "icon.svg" "style.css" "js/api.js" "js/board.js" "js/charts.js" "js/curves.js"
    "js/databases.js" "js/dom.js" "js/drawing.js" "js/embed.js" "js/gameline.js" "js/judge.js"
    "js/keys.js" "js/konane.js" "js/lines.js" "js/main.js" "js/movelist.js" "js/openings.js" "js/opponent.js"
    "js/paper.js" "js/picture.js" "js/position.js" "js/record.js" "js/relax.js" "js/report.js"
    "js/route.js" "js/search.js" "js/setup.js" "js/sprouts.js" "js/state.js" "js/tabs.js"
    "js/tour.js" "js/value.js" "js/why.js" "js/words.js"
};

/// Returns the answer with a file of the page. Its content type follows from the extension of its path.
pub fn answer((path, text): (&str, &'static str)) -> impl IntoResponse + use<> {
    let content_type = match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    ([(header::CONTENT_TYPE, content_type)], text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/page");
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
        let mut listed: Vec<_> = ASSETS.iter().map(|&(path, _)| path.to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(found, listed);
    }

    /// Absolute paths would be wrong behind a proxy that adds a prefix to all paths.
    #[test]
    fn addresses_in_the_page_are_relative() {
        for (path, text) in ASSETS {
            for quote in ['"', '\'', '`'] {
                let begin = format!("{quote}/");
                let mut absolute = text.split(&begin).skip(1);
                let found =
                    absolute.find(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
                assert_eq!(found, None, "{}", path);
            }
            assert!(!text.contains("url(/"), "{}", path);
        }
    }
}

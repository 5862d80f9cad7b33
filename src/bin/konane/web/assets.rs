//! Files of the page, which are embedded in the program.

use std::sync::OnceLock;

use axum::http::header::{self, HeaderMap};
use axum::response::{IntoResponse, Response};

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
    "js/paper.js" "js/picture.js" "js/position.js" "js/puzzles.js" "js/record.js" "js/relax.js" "js/report.js"
    "js/route.js" "js/search.js" "js/setup.js" "js/sprouts.js" "js/state.js" "js/tabs.js"
    "js/tour.js" "js/value.js" "js/why.js" "js/words.js"
};

/// Compression level. The files together take 0.1 s, once, when the first of them is requested.
const LEVEL: i32 = 19;

/// Returns the answer with a file of the page, compressed if the client accepts it. Its content type follows from the
/// extension of its path.
pub fn answer(index: usize, request: &HeaderMap) -> Response {
    static COMPRESSED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let (path, text) = ASSETS[index];
    let content_type = match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    let content_type = [(header::CONTENT_TYPE, content_type), (header::VARY, "accept-encoding")];
    if !accepts_zstd(request) {
        return (content_type, text).into_response();
    }
    let compress = |&(_, text): &(_, &str)| zstd::bulk::compress(text.as_bytes(), LEVEL);
    let all = COMPRESSED.get_or_init(|| {
        let all: Result<_, _> = ASSETS.iter().map(compress).collect();
        all.expect("compression into memory")
    });
    (content_type, [(header::CONTENT_ENCODING, "zstd")], &all[index][..]).into_response()
}

/// Returns true if a request accepts answers that are compressed with Zstandard.
fn accepts_zstd(request: &HeaderMap) -> bool {
    let values = request.get_all(header::ACCEPT_ENCODING).iter();
    let mut names =
        values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    names.any(|name| match name.split_once(';') {
        // A weight of 0 excludes an encoding.
        Some((name, weight)) => {
            name.trim() == "zstd" && weight.contains(|c| matches!(c, '1'..='9'))
        }
        None => name.trim() == "zstd",
    })
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

    /// Modules that are imported by others only when they are needed are not loaded with the page.
    #[test]
    fn the_page_preloads_the_modules_of_its_first_view() {
        let text = |name: &str| {
            let path = format!("/js/{name}");
            ASSETS.iter().find(|&&(other, _)| other == path).unwrap().1
        };
        let names = |text: &'static str, before: &'static str| {
            let parts = text.split(before).skip(1);
            parts.map(|rest| rest.split('"').next().unwrap()).collect::<Vec<_>>()
        };
        let (mut needed, mut due) = (vec!["main.js", "konane.js"], vec!["main.js", "konane.js"]);
        while let Some(module) = due.pop() {
            for name in names(text(module), " from \"./") {
                if !needed.contains(&name) {
                    needed.push(name);
                    due.push(name);
                }
            }
        }
        let mut preloaded = names(ASSETS[0].1, "modulepreload\" href=\"js/");
        preloaded.push("main.js");
        preloaded.sort();
        needed.sort();
        assert_eq!(preloaded, needed);
        assert!(!needed.contains(&"sprouts.js"));
    }

    #[test]
    fn files_are_compressed_for_clients_that_accept_it() {
        for (accepted, is_compressed) in [
            ("gzip, deflate, br, zstd", true),
            ("zstd;q=0.5", true),
            ("gzip, zstd;q=0", false),
            ("gzip", false),
        ] {
            let headers = [(header::ACCEPT_ENCODING, accepted.parse().unwrap())];
            let answer = answer(0, &headers.into_iter().collect());
            assert_eq!(answer.headers().contains_key(header::CONTENT_ENCODING), is_compressed);
            let body = axum::body::to_bytes(answer.into_body(), usize::MAX);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let body = runtime.block_on(body).unwrap();
            let text = match is_compressed {
                true => zstd::decode_all(&body[..]).unwrap(),
                false => body.to_vec(),
            };
            assert_eq!(text, ASSETS[0].1.as_bytes(), "{accepted}");
        }
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

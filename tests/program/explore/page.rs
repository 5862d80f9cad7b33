//! Static files of the page, and requests with wrong paths or methods.

use super::server::Server;

#[test]
fn the_page_is_served() {
    let server = Server::new();
    let page = server.request("GET /", &[], "");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html; charset=utf-8"), "{}", page.head);
    assert_eq!(server.request("GET /index.html", &[], "").body, page.body);
    let script = server.request("GET /js/main.js", &[], "");
    assert_eq!(script.status, 200);
    assert!(script.head.contains("content-type: text/javascript; charset=utf-8"));
    assert!(server.request("GET /style.css", &[], "").head.contains("content-type: text/css"));
    assert!(server.request("GET /icon.svg", &[], "").head.contains("content-type: image/svg+xml"));
    let head = server.request("HEAD /", &[], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn wrong_addresses_and_methods_get_errors() {
    let server = Server::new();
    for path in ["/nothing", "/api/v1/nothing", "/api/v2/version", "/../Cargo.toml", "/js/", "/js"]
    {
        let reply = server.request(&format!("GET {path}"), &[], "");
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.error().contains("unknown address"), "{path}");
    }
    // The content type of the body does not matter.
    for kind in [&["Content-Type: application/json"][..], &["Content-Type: text/plain"], &[]] {
        for first in
            ["POST /", "POST /api/v1/version", "PUT /api/v1/searches", "DELETE /js/main.js"]
        {
            let reply = server.request(first, kind, "{}");
            assert_eq!(reply.status, 405, "{first} {kind:?}");
            assert!(!reply.error().is_empty());
        }
        assert_eq!(server.request("POST /api/v1/nothing", kind, "{}").status, 404, "{kind:?}");
    }
}

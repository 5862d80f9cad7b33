//! Who may ask: our own page, and programs of this machine that are no browser.
//!
//! The address is that of this machine, but every page that its user visits can make the browser
//! send requests there. A browser says which page asks (`Sec-Fetch-Site`, `Origin`) and by which
//! name it found us (`Host`, which a page with a name of its own for 127.0.0.1 cannot choose). Pages
//! on other ports of this machine count as the same site, so only the same origin will do.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::reply::{MOST_BODY, Problem};

/// Most bytes of a request's address. A game of 62 moves on the largest board takes below 600.
const MOST_ADDRESS: usize = 2048;

/// What the page may do: nothing but what is listed here, all of it from us.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Sent with every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// The names by which we may be asked.
#[derive(Clone, Debug)]
struct Hosts(Vec<String>);

impl Hosts {
    fn new(port: u16) -> Self {
        let mut hosts: Vec<_> = NAMES.iter().map(|name| format!("{name}:{port}")).collect();
        // Browsers leave the usual port out.
        if port == 80 {
            hosts.extend(NAMES.map(str::to_owned));
        }
        Hosts(hosts)
    }

    fn has(&self, host: &[u8]) -> bool {
        self.0.iter().any(|ours| ours.as_bytes().eq_ignore_ascii_case(host))
    }
}

const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];

/// The routes behind the guard.
pub fn guarded(routes: Router, port: u16) -> Router {
    routes
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn_with_state(Hosts::new(port), guard))
}

async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut response = match check(&hosts, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check(hosts: &Hosts, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let forbidden = |text: &str| Err(Problem::new(StatusCode::FORBIDDEN, text));
    let host = only(headers, &header::HOST).ok().flatten();
    let named = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    if !host.is_some_and(|host| hosts.has(host)) || named.is_some_and(|named| !hosts.has(named)) {
        return forbidden("ask by the address that `konane explore` has printed");
    }
    let site = only(headers, &HeaderName::from_static("sec-fetch-site"));
    if !matches!(site, Ok(None | Some(b"same-origin" | b"none"))) {
        return forbidden("other pages may not ask here");
    }
    let ours = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(|host| hosts.has(host));
    if !only(headers, &header::ORIGIN).is_ok_and(|origin| origin.is_none_or(ours)) {
        return forbidden("other pages may not ask here");
    }
    let address = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if address > MOST_ADDRESS {
        let text = format!("the address has more than {MOST_ADDRESS} bytes");
        return Err(Problem::new(StatusCode::URI_TOO_LONG, text));
    }
    Ok(())
}

/// Bodies have to be JSON, and so has what is to change something: a browser asks before it sends that
/// for another page. Only for methods that there are, so that others are told so first.
pub fn json_only<S: Clone + Send + Sync + 'static>(methods: MethodRouter<S>) -> MethodRouter<S> {
    methods.route_layer(from_fn(check_body))
}

async fn check_body(request: Request, next: Next) -> Result<Response, Problem> {
    let headers = request.headers();
    let has_body = headers.contains_key(header::TRANSFER_ENCODING)
        || only(headers, &header::CONTENT_LENGTH).is_ok_and(|length| length != Some(b"0"))
            && headers.contains_key(header::CONTENT_LENGTH);
    let changes = request.method() == Method::POST;
    if (has_body || changes) && !is_json(headers) {
        let text = "send JSON, with the header Content-Type: application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    Ok(next.run(request).await)
}

/// The value of a header that may be there once at most.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h [u8]>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value.map(HeaderValue::as_bytes)),
        _ => Err(()),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(value)) = only(headers, &header::CONTENT_TYPE) else { return false };
    let essence = value.split(|&byte| byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

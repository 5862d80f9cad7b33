//! Checks of every request: only the server's own page and clients other than browsers are accepted.
//!
//! The server listens on a loopback address, but any page that its user visits can make the browser send
//! requests to it. A browser sends the origin of the page (`Sec-Fetch-Site`, `Origin`) and the host name of the
//! URL (`Host`).
//!
//! * `Host` must be a loopback name or address, or a name given by `--allow-host`. Another page may
//!   make its own name resolve to 127.0.0.1 (DNS rebinding), but the browser then sends that name. Any port
//!   is accepted: a forwarded port has another number, and a page cannot choose the port in `Host`.
//! * `Origin`, if present, must have the host and port of `Host`. The scheme does not matter,
//!   so that a proxy may add TLS.
//! * `Sec-Fetch-Site`, if present, must be `same-origin` or `none`. Pages on other ports of
//!   the same host are `same-site`, and rejected.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::reply::{ApiError, MAX_BODY};
use konane::system::quote;

/// Maximum length of a request's URL in bytes. A game of 62 moves on the largest board takes less than 600.
const MAX_ADDRESS: usize = 2048;

/// Content security policy of the page: only these kinds of resources, and only from this server.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Names and addresses of `--allow-host`.
type AllowedHosts = Arc<[String]>;

/// Parses a host name or address without a port.
pub fn parse_host(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte);
    match split_host(text.as_bytes()) {
        Some((host, "")) if host.bytes().all(is_name) => Ok(host.to_owned()),
        _ => {
            Err("write a host name or address without a port, such as konane.example.org"
                .to_owned())
        }
    }
}

/// Returns true if a `Host` header is a loopback name or an allowed one, with any port or without one.
fn is_allowed(hosts: &[String], host: &[u8]) -> bool {
    split_host(host).is_some_and(|(host, _)| {
        is_loopback(host) || hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
    })
}

/// Splits `host:port` or `host` into the host and the rest. Returns `None` for any other text.
fn split_host(text: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(text).ok()?;
    let authority = text.parse::<Authority>().ok()?;
    // Fails if there is a user name before the host.
    let (host, port) = text.split_at_checked(authority.host().len())?;
    let is_port =
        |port: &str| port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    let is_split = !host.is_empty() && host == authority.host();
    (is_split && (port.is_empty() || is_port(port))).then_some((host, port))
}

fn is_loopback(host: &str) -> bool {
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        || in_brackets
            .is_some_and(|host| host.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()))
}

/// Adds the checks to all routes and the headers to all answers.
pub fn guarded(routes: Router, hosts: &AllowedHosts) -> Router {
    let guard = from_fn_with_state(Arc::clone(hosts), guard);
    routes.layer(DefaultBodyLimit::max(MAX_BODY)).layer(guard)
}

async fn guard(State(hosts): State<AllowedHosts>, request: Request, next: Next) -> Response {
    let mut response = match check(&hosts, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check(hosts: &[String], request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    let forbidden = |text: &str| Err(ApiError::new(StatusCode::FORBIDDEN, text));
    let host = only(headers, &header::HOST).ok().flatten();
    let Some(host) = host.filter(|host| is_allowed(hosts, host)) else {
        let text = match host {
            Some(host) => format!(
                "the host {:?} is not allowed: use localhost, or start konane explore with --allow-host",
                quote(&String::from_utf8_lossy(host))
            ),
            None => "send one Host header, such as Host: localhost".to_owned(),
        };
        return forbidden(&text);
    };
    let target = request.uri().authority();
    if target.is_some_and(|target| !target.as_str().as_bytes().eq_ignore_ascii_case(host)) {
        return forbidden("the host in the URL differs from the header Host");
    }
    let site = only(headers, &HeaderName::from_static("sec-fetch-site"));
    if !matches!(site, Ok(None | Some(b"same-origin" | b"none"))) {
        return forbidden("cross-origin requests are rejected");
    }
    let is_ours = |origin: &[u8]| {
        let authority =
            [&b"http://"[..], b"https://"].iter().find_map(|scheme| origin.strip_prefix(*scheme));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    };
    if !only(headers, &header::ORIGIN).is_ok_and(|origin| origin.is_none_or(is_ours)) {
        return forbidden(
            "cross-origin requests are rejected: the header Origin differs from Host",
        );
    }
    let address = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if address > MAX_ADDRESS {
        let text = format!("the address has more than {MAX_ADDRESS} bytes");
        return Err(ApiError::new(StatusCode::URI_TOO_LONG, text));
    }
    Ok(())
}

/// Rejects bodies that are not JSON, and `POST` without JSON. Browsers send cross-origin JSON only after a CORS
/// preflight request, which fails. A method that a route does not support is answered 405 first.
pub fn json_only<S: Clone + Send + Sync + 'static>(methods: MethodRouter<S>) -> MethodRouter<S> {
    methods.route_layer(from_fn(check_body))
}

async fn check_body(request: Request, next: Next) -> Result<Response, ApiError> {
    let headers = request.headers();
    let has_body = headers.contains_key(header::TRANSFER_ENCODING)
        || only(headers, &header::CONTENT_LENGTH).is_ok_and(|length| length != Some(b"0"))
            && headers.contains_key(header::CONTENT_LENGTH);
    let changes = request.method() == Method::POST;
    if (has_body || changes) && !is_json(headers) {
        let text = "send JSON, with the header Content-Type: application/json";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    Ok(next.run(request).await)
}

/// Returns the value of a header, if present. Fails if it occurs twice.
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

//! Accepts connections, limits their number, and closes them at the end.
//!
//! At most [`MAX_CONNECTIONS`] are served at a time. When another one arrives, the server closes the
//! connection that has waited longest for data from its client. If no connection is waiting, the new one is
//! answered 503.

use std::convert::Infallible;
use std::io;
use std::net;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{Notify, Semaphore};
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_io_timeout::TimeoutStream;

use super::Explorer;
use crate::stdin::POLL_INTERVAL;
use konane::system::STACK_BYTES;

/// Maximum number of connections that are served at a time.
const MAX_CONNECTIONS: usize = 64;

/// Maximum number of concurrent connections that are answered 503. Further ones are closed.
const MAX_REFUSED: usize = 64;

/// Time after which a refused connection is closed.
const REFUSED_TIME: Duration = Duration::from_secs(1);

/// Minimum time that a connection waits for its client before it can be closed in favour of another one.
/// Requests in transit arrive within this time. If all connections process requests, a new one waits at most
/// this time for one of them to end.
const MIN_WAIT: Duration = Duration::from_millis(500);

/// Maximum number of threads that compute or read files. Each board uses at most one of them. All requests with
/// a level together use at most one.
const MAX_WORKERS: usize = 8;

/// Time after which a connection is closed if the headers of its next request have not arrived.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// Time after which a connection is closed if its client reads nothing of an answer.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// Maximum size of a request's headers, and of buffered answers.
const MAX_BUFFER: usize = 64 << 10;

/// Time for sending the last events of streams at the end of the program.
const DRAIN_TIME: Duration = Duration::from_millis(250);

/// Answers requests by `router` until the flag is set, and by `refusal` while all connections process
/// requests.
pub fn serve(
    listener: net::TcpListener,
    router: Router,
    refusal: Router,
    explorer: &Explorer,
    stop: &AtomicBool,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut builder = Builder::new_current_thread();
    builder.enable_io().enable_time();
    builder.max_blocking_threads(MAX_WORKERS).thread_stack_size(STACK_BYTES);
    let runtime = builder.build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let accepting = tokio::spawn(accept(listener, router, refusal));
        while !stop.load(Ordering::Relaxed) {
            sleep(POLL_INTERVAL).await;
        }
        accepting.abort();
        // Streams end when their search ends.
        explorer.stop();
        sleep(DRAIN_TIME).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

async fn accept(listener: TcpListener, router: Router, refusal: Router) {
    let mut connections = Connections::new();
    let refused = Arc::new(Semaphore::new(MAX_REFUSED));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For example, there may be no file descriptors until a connection is closed.
            sleep(POLL_INTERVAL).await;
            continue;
        };
        if connections.free_slot().await {
            connections.serve(stream, router.clone());
        } else if let Ok(permit) = Arc::clone(&refused).try_acquire_owned() {
            let answer = serve_connection(stream, Connection::new(), refusal.clone(), false);
            tokio::spawn(async move {
                let _ = timeout(REFUSED_TIME, answer).await;
                drop(permit);
            });
        }
    }
}

/// The connections that are served.
struct Connections {
    open: Vec<(Connection, AbortHandle)>,
    /// Notified when a connection ends.
    ended: Arc<Notify>,
    /// Time of the last successful [`free_slot`](Connections::free_slot).
    last_free_slot: Instant,
}

impl Connections {
    fn new() -> Self {
        Connections { open: Vec::new(), ended: Arc::default(), last_free_slot: Instant::now() }
    }

    /// Waits until another connection can be served. If there are too many, closes the one that has waited
    /// longest for its client. Returns false if all of them process requests.
    async fn free_slot(&mut self) -> bool {
        let arrived = Instant::now();
        loop {
            self.open.retain(|(_, task)| !task.is_finished());
            if self.open.len() < MAX_CONNECTIONS {
                self.last_free_slot = Instant::now();
                return true;
            }
            // Lets tasks run whose clients have sent data. This matters if the system has not scheduled this
            // program for some time.
            yield_now().await;
            let now = Instant::now();
            let waiting = self.open.iter().enumerate();
            let waiting =
                waiting.filter_map(|(at, (open, _))| Some(((*open.waiting_since())?, at)));
            let oldest = waiting.min();
            if let Some((since, at)) = oldest
                && now >= since + MIN_WAIT
            {
                self.open.swap_remove(at).1.abort();
                continue;
            }
            // Measured from the last success, so that many new connections do not wait one after another.
            let from = if oldest.is_some() { arrived } else { self.last_free_slot };
            let until = from + MIN_WAIT;
            if now >= until {
                return false;
            }
            let until = oldest.map_or(until, |(since, _)| until.min(since + MIN_WAIT));
            let _ = timeout_at(until, self.ended.notified()).await;
        }
    }

    /// Serves a connection in a separate task.
    fn serve(&mut self, stream: TcpStream, router: Router) {
        let (connection, ended) = (Connection::new(), Arc::clone(&self.ended));
        let served = serve_connection(stream, connection.clone(), router, true);
        let task = tokio::spawn(async move {
            served.await;
            ended.notify_one();
        });
        self.open.push((connection, task.abort_handle()));
    }
}

/// State of a connection: the time since which the server has been waiting for the client (for a
/// request, the rest of one, or until the client reads the answer), or `None` while it processes a
/// request. Shared by the task that serves the connection, the request, and the loop that accepts
/// connections.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Mutex<Option<Instant>>>);

impl Connection {
    fn new() -> Self {
        Connection(Arc::new(Mutex::new(Some(Instant::now()))))
    }

    fn waiting_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the connection as waiting for its client from now on.
    pub fn set_waiting(&self) {
        *self.waiting_since() = Some(Instant::now());
    }

    /// Marks the connection as processing a request.
    pub fn set_processing(&self) {
        *self.waiting_since() = None;
    }
}

/// Answers the requests of a connection, only the first one unless `keep_alive`.
async fn serve_connection(
    stream: TcpStream,
    connection: Connection,
    router: Router,
    keep_alive: bool,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        connection.set_processing();
        request.extensions_mut().insert(connection.clone());
        let (answer, connection) = (router.call(request), connection.clone());
        async move {
            let answer: Response<Body> = answer.await?;
            connection.set_waiting();
            Ok::<_, Infallible>(answer.map(|body| TrackedBody { body, connection }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(MAX_BUFFER);
    http.keep_alive(keep_alive);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIME));
    let stream = TokioIo::new(Box::pin(stream));
    // An error of one connection does not affect others.
    if let Err(error) = http.serve_connection(stream, service).await {
        tracing::debug!(%error, "connection");
    }
}

/// The body of an answer. Marks the connection as waiting for its client while data is ready, and as processing
/// while it is not.
struct TrackedBody {
    body: Body,
    connection: Connection,
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match frame {
            Poll::Pending => self.connection.set_processing(),
            Poll::Ready(_) => self.connection.set_waiting(),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use axum::routing::get;
    use tokio::task::spawn_blocking;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    /// Sends a request and returns the answer, up to the end of the connection.
    fn send_request(address: net::SocketAddr) -> String {
        let mut stream = net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(REQUEST).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn requests_are_refused_while_all_connections_process_others() {
        let listener = net::TcpListener::bind((net::Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        // Requests that have arrived, and that may be answered.
        let (begun, end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (counter, released) = (Arc::clone(&begun), Arc::clone(&end));
        let process = move || async move {
            counter.add_permits(1);
            let _ = released.acquire().await;
            "answered"
        };
        let router = Router::new().route("/", get(process));
        let refusal = Router::new().fallback(|| async { "refused" });
        let arrive = async |count| {
            let all = timeout(Duration::from_secs(20), begun.acquire_many(count)).await;
            all.expect("the requests arrive").unwrap().forget();
        };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            tokio::spawn(accept(listener, router, refusal));
            let mut clients: Vec<_> =
                (0..MAX_CONNECTIONS).map(|_| net::TcpStream::connect(address).unwrap()).collect();
            for client in &mut clients {
                client.write_all(REQUEST).unwrap();
            }
            arrive(MAX_CONNECTIONS as u32).await;
            for _ in 0..3 {
                let begun = Instant::now();
                let answer = spawn_blocking(move || send_request(address)).await.unwrap();
                assert!(answer.ends_with("refused"), "{answer}");
                assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
            }
            // A slot is free as soon as one of the clients disconnects.
            clients.pop();
            let asking = spawn_blocking(move || send_request(address));
            arrive(1).await;
            end.add_permits(2 * MAX_CONNECTIONS);
            assert!(asking.await.unwrap().ends_with("answered"));
        });
    }
}

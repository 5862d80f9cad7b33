//! Accepts connections, limits their number, and closes them at the end.
//!
//! At most [`MAX_CONNECTIONS`] are served at a time; a further one waits until one of them ends. A connection ends
//! after [`IDLE_TIME`] if its client sends no request or does not read an answer, so idle clients do not block others
//! for long.

use std::io;
use std::net;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;

use super::Explorer;
use crate::stdin::POLL_INTERVAL;
use konane::system::STACK_BYTES;

/// Maximum number of connections that are served at a time.
const MAX_CONNECTIONS: usize = 256;

/// Time after which a connection is closed if the headers of its next request have not arrived, or if its client reads
/// nothing of an answer.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// Maximum number of threads that compute or read files. Each board uses at most one of them. All requests with
/// a level together use at most one.
const MAX_WORKERS: usize = 8;

/// Maximum size of a request's headers, and of buffered answers.
const MAX_BUFFER: usize = 64 << 10;

/// Time for sending the last events of streams at the end of the program.
const DRAIN_TIME: Duration = Duration::from_millis(250);

/// Answers requests by `router` until the flag is set.
pub fn serve(
    listener: net::TcpListener,
    router: Router,
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
        let accepting = tokio::spawn(accept(listener, router));
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

async fn accept(listener: TcpListener, router: Router) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let slot = Arc::clone(&free).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // For example, there may be no file descriptors until a connection is closed.
            sleep(POLL_INTERVAL).await;
            continue;
        };
        let served = serve_connection(stream, router.clone());
        tokio::spawn(async move {
            served.await;
            drop(slot);
        });
    }
}

/// Answers the requests of a connection.
async fn serve_connection(stream: TcpStream, router: Router) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE_TIME).max_buf_size(MAX_BUFFER);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(IDLE_TIME));
    let stream = TokioIo::new(Box::pin(stream));
    // An error of one connection does not affect others.
    if let Err(error) = http.serve_connection(stream, TowerToHyperService::new(router)).await {
        tracing::debug!("a connection ended: {error}");
    }
}

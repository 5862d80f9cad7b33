//! Connections: accepted, bounded, ended.

use std::io;
use std::net;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;

use super::Explorer;
use crate::cli::input::PATIENCE;
use crate::system::STACK_BYTES;

/// Most connections at a time. Those beyond wait.
const CONNECTIONS: usize = 64;

/// Most threads that compute or read files. Each board keeps one of them busy at most, and so do
/// the levels together.
const WORKERS: usize = 8;

/// A connection whose request has not come after this time is closed.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// A connection that takes nothing of what is written to it for this time is closed.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// Most bytes of a request's headers, and those that wait to be written.
const BUFFER: usize = 64 << 10;

/// What is still to be said after the end is given this time.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Answers requests until the flag is set.
pub fn serve(
    listener: net::TcpListener,
    router: Router,
    explorer: &Explorer,
    stop: &AtomicBool,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut builder = Builder::new_current_thread();
    builder.enable_io().enable_time();
    builder.max_blocking_threads(WORKERS).thread_stack_size(STACK_BYTES);
    let runtime = builder.build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let accepting = tokio::spawn(accept(listener, router));
        while !stop.load(Ordering::Relaxed) {
            sleep(PATIENCE).await;
        }
        accepting.abort();
        // Streams end with their search.
        explorer.stop();
        sleep(LAST_WORDS).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

async fn accept(listener: TcpListener, router: Router) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let permit = Arc::clone(&free).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // No file descriptors are left, say. Some will be.
            sleep(PATIENCE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(BUFFER);
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(WRITE_TIME));
            let stream = TokioIo::new(Box::pin(stream));
            // What goes wrong with a connection concerns nobody else.
            if let Err(error) = http.serve_connection(stream, service).await {
                tracing::debug!(%error, "connection");
            }
            drop(permit);
        });
    }
}

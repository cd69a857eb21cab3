//! Nothing leaves by a connection once a [`Term`] is over.
//!
//! Between the look at a term before a request and the moment that it leaves there may be any time: it waits for a
//! connection, is tried again later, or the machine hangs. So the last look is here, before bytes are handed to the
//! system.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

use crate::lease::{OVER, Term};

/// A connection that takes bytes while `term` lasts.
pub(crate) struct Fenced<C> {
    connection: C,
    term: Term,
}

impl<C: Unpin> Fenced<C> {
    pub(crate) fn new(connection: C, term: Term) -> Self {
        Self { connection, term }
    }

    /// The connection, to write to.
    fn open(&mut self) -> io::Result<Pin<&mut C>> {
        if self.term.lasts() {
            return Ok(Pin::new(&mut self.connection));
        }
        Err(io::Error::other(OVER))
    }
}

impl<C: Read + Unpin> Read for Fenced<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<C: Write + Unpin> Write for Fenced<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}

impl<C: Connection> Connection for Fenced<C> {
    fn connected(&self) -> Connected {
        self.connection.connected()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::Method;
    use kube::Config;
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;
    use crate::connection::Client;
    use crate::rest::{self, ActAs, Body, Error};

    /// An API that answers every request with `status`, after `then`; how many it has had is in `heard`.
    async fn server(
        status: &'static str,
        heard: Arc<AtomicUsize>,
        then: impl Fn() + Send + 'static,
    ) -> Config {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut piece = [0; 4_096];
                while stream.read(&mut piece).await.is_ok_and(|read| read > 0) {
                    heard.fetch_add(1, Ordering::SeqCst);
                    then();
                    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}");
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        Config::new(format!("http://{address}").parse().unwrap())
    }

    async fn write(client: &Client) -> Result<Value, Error> {
        let body = json!({"kind": "Cup"});
        rest::send(client, Method::POST, "/cups", Some((Body::Json, &body)), &ActAs::default())
            .await
    }

    #[tokio::test]
    async fn nothing_leaves_by_an_open_connection() {
        let (heard, term) = (Arc::<AtomicUsize>::default(), Term::endless());
        let config = server("200 OK", heard.clone(), || {}).await;
        let client = Client::open(config, term.clone()).unwrap();
        write(&client).await.unwrap();
        term.set(Instant::now());
        let error = write(&client).await.unwrap_err().to_string();
        assert!(error.contains("does not lead any more"), "{error}");
        assert_eq!(heard.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_is_tried_again_does_not_leave_either() {
        let (heard, term) = (Arc::<AtomicUsize>::default(), Term::endless());
        let ended = term.clone();
        let busy = "503 Service Unavailable";
        let config = server(busy, heard.clone(), move || ended.set(Instant::now())).await;
        let client = Client::open(config, term).unwrap();
        let error = write(&client).await.unwrap_err().to_string();
        assert!(error.contains("does not lead any more"), "{error}");
        assert_eq!(heard.load(Ordering::SeqCst), 1);
    }
}

//! A way to a server on which the answer to a commit can be lost.
//!
//! Of PostgreSQL's protocol it knows only that a commit and its answer say so in plain text, which holds
//! where connections are not encrypted, as a private server's are not.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// The end of the message that asks for a commit, and of the one that confirms it.
const COMMIT: &[u8] = b"COMMIT\0";
const BUFFER_BYTES: usize = 64 * 1024;
const DEFAULT_PORT: u16 = 5432;

/// Passes everything on between clients and one server, but for answers it was told to lose.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    url: String,
    /// Whether the answer to the next commit is to be lost.
    losing: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

impl Relay {
    /// Listens on a loopback port for the server of `url`.
    pub fn start(url: &str) -> io::Result<Self> {
        let (before, authority, after) = split(url);
        let server = resolve(authority)?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (losing, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (losing_too, ended_too) = (Arc::clone(&losing), Arc::clone(&ended));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if ended_too.load(Ordering::SeqCst) {
                    return;
                }
                // A client whose server is gone finds its connection closed.
                let _ = pass(&client, server, &losing_too);
            }
        });
        Ok(Self { address, url: format!("{before}{address}{after}"), losing, ended })
    }

    /// Returns the URL by which clients go through here.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Loses the answer to the next commit: it takes effect, and its connection ends before anybody is told.
    pub fn lose_next_commit(&self) {
        self.losing.store(true, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for clients.
        let _ = TcpStream::connect(self.address);
    }
}

/// Splits a URL around its host and port.
fn split(url: &str) -> (&str, &str, &str) {
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
    let end = url[start..].find(['/', '?']).map_or(url.len(), |end| start + end);
    let start = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    (&url[..start], &url[start..end], &url[end..])
}

fn resolve(authority: &str) -> io::Result<SocketAddr> {
    let resolved = if authority.contains(':') {
        authority.to_socket_addrs()?.next()
    } else {
        (authority, DEFAULT_PORT).to_socket_addrs()?.next()
    };
    resolved.ok_or_else(|| io::Error::other(format!("{authority} has no address")))
}

/// Serves one client on two threads, until either side closes.
fn pass(client: &TcpStream, server: SocketAddr, losing: &Arc<AtomicBool>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    let (asking, answered) = (client.try_clone()?, client.try_clone()?);
    let (asked, answering) = (server.try_clone()?, server);
    let lost = Arc::new(AtomicBool::new(false));
    let (losing, lost_too) = (Arc::clone(losing), Arc::clone(&lost));
    thread::spawn(move || pass_requests(asking, asked, &losing, &lost_too));
    thread::spawn(move || pass_answers(answering, answered, &lost));
    Ok(())
}

fn pass_requests(mut client: TcpStream, mut server: TcpStream, losing: &AtomicBool, lost: &AtomicBool) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let request = &buffer[..length];
        if says_commit(request) && losing.swap(false, Ordering::SeqCst) {
            lost.store(true, Ordering::SeqCst);
        }
        if server.write_all(request).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

fn pass_answers(mut server: TcpStream, mut client: TcpStream, lost: &AtomicBool) {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut kept_back = Vec::new();
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        let answer = &buffer[..length];
        if lost.load(Ordering::SeqCst) {
            kept_back.extend_from_slice(answer);
            if says_commit(&kept_back) {
                break;
            }
        } else if client.write_all(answer).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

fn says_commit(bytes: &[u8]) -> bool {
    bytes.windows(COMMIT.len()).any(|window| window == COMMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_found_in_every_shape_of_url() {
        let check = |url, expected| assert_eq!(split(url), expected);
        check("postgres://me@127.0.0.1:5433/db", ("postgres://me@", "127.0.0.1:5433", "/db"));
        check("postgres://me:p@ss@host/db?x=1", ("postgres://me:p@ss@", "host", "/db?x=1"));
        check("postgres://host", ("postgres://", "host", ""));
        check("postgres://host?x=1", ("postgres://", "host", "?x=1"));
    }
}

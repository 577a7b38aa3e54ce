//! How a connection begins: both ends prove that they know the token of the run.
//!
//! ```text
//! accepting end                        connecting end
//!   Greeting { protocol, nonce }  ──▶
//!                                 ◀──  Introduction { nonce, caller, proof }
//!   Accepted(proof) or Refused    ──▶
//! ```
//!
//! Until then the other end may be any program. A frame has at most [`MAX_FIRST_FRAME_BYTES`] bytes, one deadline
//! covers everything, and a silent or slow connection delays no other: all are read without waiting.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::connection::Timed;
use crate::protocol::{self, MAX_FIRST_FRAME_BYTES, PROTOCOL};
use crate::token::{Bytes, Claim, Token};

/// Maximum time from accepting a connection until its introduction is complete.
const INTRODUCTION_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of connections that are being introduced. For a further one, the oldest is closed.
const MAX_INTRODUCTIONS: usize = 128;
/// Time that a connection has before it may be closed in favour of a new one.
const MIN_INTRODUCTION_TIME: Duration = Duration::from_millis(100);
/// Role of the end that connects, in its proof.
const CONNECTING: &str = "masque cluster: connecting end";
/// Role of the end that accepts, in its proof.
const ACCEPTING: &str = "masque cluster: accepting end";

/// The first message of the accepting end.
#[derive(Debug, Serialize, Deserialize)]
struct Greeting {
    protocol: String,
    nonce: Bytes,
}

/// What the connecting end says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Caller {
    /// A worker that joins a run.
    Worker {
        /// Host name at which other workers reach it. `None` means the address that the supervisor sees.
        host: Option<String>,
    },
    /// A worker of the run that connects to another one.
    Peer {
        /// Index of the worker.
        index: usize,
    },
}

/// The reply to a greeting.
#[derive(Debug, Serialize, Deserialize)]
struct Introduction {
    nonce: Bytes,
    caller: Caller,
    proof: Bytes,
}

/// The reply to an introduction.
#[derive(Debug, Serialize, Deserialize)]
enum Decision {
    Accepted(Bytes),
    Refused,
}

/// Returns what both proofs are about.
fn about(run: &str, caller: &Caller) -> io::Result<String> {
    let caller = serde_json::to_string(caller).map_err(io::Error::other)?;
    Ok(format!("{PROTOCOL} {run} {caller}"))
}

/// Reason why an introduction has failed at the connecting end.
#[derive(Debug)]
pub(crate) enum IntroductionError {
    /// The connection was closed or broken, or the deadline has passed. Another attempt may succeed.
    Broken(io::Error),
    /// The ends do not belong together: a message of one line.
    Refused(String),
}

impl From<io::Error> for IntroductionError {
    fn from(error: io::Error) -> IntroductionError {
        IntroductionError::Broken(error)
    }
}

/// Introduces the connecting end, and verifies the proof of the accepting one. `run` names what is
/// connected to, and must be the same at both ends.
pub(crate) fn introduce(
    stream: &TcpStream,
    caller: &Caller,
    run: &str,
    token: &Token,
    deadline: Instant,
) -> Result<(), IntroductionError> {
    stream.set_nodelay(true)?;
    let mut timed = Timed { stream, deadline };
    let Greeting { protocol, nonce: accepting } = receive(&mut timed)?;
    if protocol != PROTOCOL {
        return Err(IntroductionError::Refused(format!("it speaks `{protocol}`, not `{PROTOCOL}`")));
    }
    let (connecting, about) = (Bytes::random()?, about(run, caller)?);
    let claim = |role| Claim { role, accepting, connecting, about: &about };
    let proof = token.prove(&claim(CONNECTING));
    protocol::write(&mut timed, &Introduction { nonce: connecting, caller: caller.clone(), proof })?;
    match receive(&mut timed)? {
        Decision::Accepted(proof) if token.verify(&claim(ACCEPTING), &proof) => {}
        Decision::Accepted(_) => {
            return Err(IntroductionError::Refused("it does not know the token".to_string()));
        }
        Decision::Refused => {
            return Err(IntroductionError::Refused("it has another token".to_string()));
        }
    }
    stream.set_read_timeout(None)?;
    Ok(stream.set_write_timeout(None)?)
}

fn receive<T: for<'a> Deserialize<'a>>(timed: &mut Timed<'_>) -> Result<T, IntroductionError> {
    match protocol::read_at_most(timed, MAX_FIRST_FRAME_BYTES) {
        Ok(Some(frame)) => Ok(frame),
        Ok(None) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed").into()),
        Err(error) => Err(match error.kind() {
            // A frame that is too long, or not one of these messages.
            io::ErrorKind::InvalidData | io::ErrorKind::Other => {
                IntroductionError::Refused("it is not a check of masque".to_string())
            }
            _ => error.into(),
        }),
    }
}

/// Accepts connections and waits for their introductions, for all of them at the same time.
pub(crate) struct Reception<'a> {
    listener: &'a TcpListener,
    run: &'a str,
    token: &'a Token,
    /// Connections that are being introduced, the oldest first.
    pending: VecDeque<Pending>,
}

impl<'a> Reception<'a> {
    /// Starts to accept connections to `run`.
    pub(crate) fn new(listener: &'a TcpListener, run: &'a str, token: &'a Token) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Reception { listener, run, token, pending: VecDeque::new() })
    }

    /// Continues all introductions without waiting. Returns the connections whose introduction is now
    /// complete.
    pub(crate) fn poll(&mut self) -> io::Result<Vec<(Caller, TcpStream)>> {
        self.accept()?;
        let mut introduced = Vec::new();
        for mut pending in std::mem::take(&mut self.pending) {
            match pending.advance(self.run, self.token) {
                Ok(Some(caller)) => introduced.push((caller, pending.stream)),
                Ok(None) => self.pending.push_back(pending),
                // The connection is closed: it is not one of ours.
                Err(_) => {}
            }
        }
        Ok(introduced)
    }

    /// Accepts all waiting connections, as far as there is room for them.
    fn accept(&mut self) -> io::Result<()> {
        loop {
            if self.pending.len() >= MAX_INTRODUCTIONS {
                match self.pending.front() {
                    Some(oldest) if oldest.accepted.elapsed() < MIN_INTRODUCTION_TIME => return Ok(()),
                    _ => _ = self.pending.pop_front(),
                }
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.pending.extend(Pending::new(stream).ok()),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(()),
                    // The other end has closed the connection before it was accepted.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }
}

/// A connection that is being introduced.
struct Pending {
    stream: TcpStream,
    nonce: Bytes,
    accepted: Instant,
    /// What has arrived of the introduction.
    received: Vec<u8>,
}

impl Pending {
    /// Sends the greeting.
    fn new(stream: TcpStream) -> io::Result<Pending> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let nonce = Bytes::random()?;
        // A new connection has room for it, so this does not wait.
        protocol::write(&mut &stream, &Greeting { protocol: PROTOCOL.to_string(), nonce })?;
        Ok(Pending { stream, nonce, accepted: Instant::now(), received: Vec::new() })
    }

    /// Reads what has arrived. Returns the other end when it has introduced itself; an error means that it
    /// is not one of ours.
    fn advance(&mut self, run: &str, token: &Token) -> io::Result<Option<Caller>> {
        let mut bytes = [0; 256];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n_bytes) => self.received.extend_from_slice(&bytes[..n_bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            // A frame that is too long is an error as soon as its length has arrived.
            if let Some(introduction) = protocol::decode(&self.received, MAX_FIRST_FRAME_BYTES)? {
                return self.decide(introduction, run, token).map(Some);
            }
        }
        if self.accepted.elapsed() < INTRODUCTION_TIMEOUT {
            Ok(None)
        } else {
            Err(io::ErrorKind::TimedOut.into())
        }
    }

    /// Verifies the proof of the other end, and sends the proof of this one.
    fn decide(&mut self, introduction: Introduction, run: &str, token: &Token) -> io::Result<Caller> {
        let Introduction { nonce, caller, proof } = introduction;
        let about = about(run, &caller)?;
        let claim = |role| Claim { role, accepting: self.nonce, connecting: nonce, about: &about };
        if !token.verify(&claim(CONNECTING), &proof) {
            _ = protocol::write(&mut self.stream, &Decision::Refused);
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        protocol::write(&mut self.stream, &Decision::Accepted(token.prove(&claim(ACCEPTING))))?;
        self.stream.flush()?;
        self.stream.set_nonblocking(false)?;
        Ok(caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(text).unwrap()
    }

    /// Polls until a connection is introduced.
    fn wait(reception: &mut Reception<'_>) -> Option<(Caller, TcpStream)> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if let Some(found) = reception.poll().unwrap().pop() {
                return Some(found);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// Polls while another thread connects; returns the result of that thread, and who was introduced.
    fn poll_during<T: Send>(
        reception: &mut Reception<'_>,
        connect: impl FnOnce() -> T + Send,
    ) -> (T, Vec<Caller>) {
        let mut introduced = Vec::new();
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(connect);
            while !thread.is_finished() {
                introduced.extend(reception.poll().unwrap().into_iter().map(|(caller, _)| caller));
                std::thread::sleep(Duration::from_millis(1));
            }
            thread.join().unwrap()
        });
        (done, introduced)
    }

    fn in_a_minute() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn both_ends_prove_the_token() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = token("a-token-for-tests");
        let mut reception = Reception::new(&listener, "run", &own).unwrap();
        let host = Some("h".repeat(253));
        let cases = [
            ("a-token-for-tests", "run", Caller::Worker { host }, true),
            ("a-token-for-tests", "run", Caller::Peer { index: 7 }, true),
            ("a-token-for-pests", "run", Caller::Peer { index: 7 }, false),
            ("a-token-for-tests", "other", Caller::Peer { index: 7 }, false),
        ];
        for (text, run, caller, is_accepted) in cases {
            let (result, introduced) = poll_during(&mut reception, || {
                let stream = TcpStream::connect(address).unwrap();
                introduce(&stream, &caller, run, &token(text), in_a_minute())
            });
            if is_accepted {
                assert!(result.is_ok() && introduced == [caller], "{result:?}");
            } else {
                let is_refused =
                    matches!(&result, Err(IntroductionError::Refused(why)) if why.contains("another token"));
                assert!(is_refused && introduced.is_empty(), "{result:?}");
            }
        }
    }

    /// An accepting end that does not know the token cannot pretend to.
    #[test]
    fn a_false_supervisor_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pretend = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let nonce = Bytes::random().unwrap();
            protocol::write(&mut stream, &Greeting { protocol: PROTOCOL.to_string(), nonce }).unwrap();
            let found: Introduction = protocol::read(&mut stream).unwrap().unwrap();
            // It returns the proof that it has received.
            protocol::write(&mut stream, &Decision::Accepted(found.proof)).unwrap();
        });
        let stream = TcpStream::connect(address).unwrap();
        let caller = Caller::Worker { host: None };
        let result = introduce(&stream, &caller, "run", &token("a-token-for-tests"), in_a_minute());
        let is_refused =
            matches!(&result, Err(IntroductionError::Refused(why)) if why.contains("does not know"));
        assert!(is_refused, "{result:?}");
        pretend.join().unwrap();
    }

    /// Strangers that are silent, send one byte, announce a large frame, or send none of ours.
    #[test]
    fn strangers_do_not_delay_others() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = token("a-token-for-tests");
        let mut reception = Reception::new(&listener, "run", &own).unwrap();
        let openings: [&[u8]; 4] = [b"", b"\x10", b"\0\0\0\x40", b"GET / HTTP/1.1\r\n\r\n"];
        let start = Instant::now();
        let ((), introduced) = poll_during(&mut reception, || {
            let mut strangers = Vec::new();
            for opening in openings.iter().cycle().take(3 * MAX_INTRODUCTIONS) {
                let mut stranger = TcpStream::connect(address).unwrap();
                stranger.write_all(opening).unwrap();
                strangers.push(stranger);
            }
            let stream = TcpStream::connect(address).unwrap();
            introduce(&stream, &Caller::Peer { index: 1 }, "run", &own, in_a_minute()).unwrap();
        });
        assert_eq!(introduced, [Caller::Peer { index: 1 }]);
        // More strangers than there is room for: about the time that one of them may take.
        assert!(start.elapsed() < 2 * INTRODUCTION_TIMEOUT, "{:?}", start.elapsed());
        assert!(reception.pending.len() <= MAX_INTRODUCTIONS);
    }

    /// A connection that sends one byte from time to time does not get more time than a silent one.
    #[test]
    fn one_deadline_covers_the_introduction() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stranger = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let own = token("a-token-for-tests");
        let mut reception = Reception::new(&listener, "run", &own).unwrap();
        stranger.write_all(&500_u32.to_le_bytes()).unwrap();
        let start = Instant::now();
        let mut is_open = true;
        while is_open && start.elapsed() < 10 * INTRODUCTION_TIMEOUT {
            std::thread::sleep(Duration::from_millis(200));
            assert!(reception.poll().unwrap().is_empty());
            is_open = !reception.pending.is_empty();
            assert!(is_open || start.elapsed() >= INTRODUCTION_TIMEOUT);
            _ = stranger.write_all(b" ");
        }
        assert!(!is_open);
    }

    #[test]
    fn an_introduction_in_pieces() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let own = token("a-token-for-tests");
        let mut reception = Reception::new(&listener, "run", &own).unwrap();
        reception.poll().unwrap();
        let Greeting { nonce: accepting, .. } = protocol::read(&mut stream).unwrap().unwrap();
        let (connecting, caller) = (Bytes::random().unwrap(), Caller::Peer { index: 2 });
        let about = about("run", &caller).unwrap();
        let proof = own.prove(&Claim { role: CONNECTING, accepting, connecting, about: &about });
        let mut frame = Vec::new();
        let introduction = Introduction { nonce: connecting, caller: caller.clone(), proof };
        protocol::write(&mut frame, &introduction).unwrap();
        for piece in frame.chunks(50) {
            assert!(reception.poll().unwrap().is_empty());
            stream.write_all(piece).unwrap();
        }
        assert_eq!(wait(&mut reception).unwrap().0, caller);
    }
}

//! The token of a run, and how both ends of a connection prove that they know it.
//!
//! Each end sends a fresh random number, a *nonce*. A proof is an HMAC-SHA-256 with the token as its key,
//! over both nonces and what the end claims to be. So the token itself is never sent, a proof cannot be
//! used for another connection, and the proof of one end is not a proof of the other.
//!
//! This protects the start of a connection. What is sent afterwards is neither encrypted nor authenticated.

use std::fmt;
use std::io;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Number of bytes of a nonce, a digest and a proof.
const N_BYTES: usize = 32;

/// A secret that the supervisor and its workers share.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Minimum number of characters of a token. An observer of a proof can try tokens without asking either
    /// end, so a token must be hard to guess.
    pub const MIN_LENGTH: usize = 16;

    /// Creates a token from a text without the blanks around it. Returns `None` if it is too short or
    /// contains blanks or other characters than printable ASCII.
    ///
    /// ```
    /// use masque_cluster::Token;
    /// assert_eq!(Token::new("correct-horse-battery\n").unwrap().text(), "correct-horse-battery");
    /// assert!(Token::new("short").is_none() && Token::new("sixteen or more characters").is_none());
    /// ```
    pub fn new(text: &str) -> Option<Token> {
        let text = text.trim();
        let is_good = text.len() >= Token::MIN_LENGTH && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_good.then(|| Token(text.to_string()))
    }

    /// Creates a token of 256 bits from the system's randomness.
    pub fn random() -> io::Result<Token> {
        Ok(Token(Bytes::random()?.to_string()))
    }

    /// Returns the text of the token.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the proof of a claim.
    pub(crate) fn prove(&self, claim: &Claim<'_>) -> Bytes {
        Bytes(self.mac(claim).finalize().into_bytes().into())
    }

    /// Whether this is the proof of a claim. The time this takes does not depend on the content of the
    /// proof.
    pub(crate) fn verify(&self, claim: &Claim<'_>, proof: &Bytes) -> bool {
        self.mac(claim).verify_slice(&proof.0).is_ok()
    }

    fn mac(&self, claim: &Claim<'_>) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("a key of HMAC may have any length");
        // Each part is preceded by its length, so different claims are different texts.
        let Claim { role, accepting, connecting, about } = claim;
        for part in [role.as_bytes(), &accepting.0, &connecting.0, about.as_bytes()] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Token {
    /// Hides the secret, which must not appear in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What one end of a connection claims.
pub(crate) struct Claim<'a> {
    /// Which end it is.
    pub(crate) role: &'static str,
    /// Nonce of the end that accepts the connection.
    pub(crate) accepting: Bytes,
    /// Nonce of the end that connects.
    pub(crate) connecting: Bytes,
    /// The run, and what the connecting end says about itself.
    pub(crate) about: &'a str,
}

/// A nonce, a proof or a digest; in JSON, hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes([u8; N_BYTES]);

/// The SHA-256 digest of a text.
pub type Digest = Bytes;

impl Bytes {
    /// Returns the SHA-256 digest of a text.
    ///
    /// ```
    /// let digest = masque_cluster::Digest::of("abc").to_string();
    /// assert!(digest.starts_with("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    /// ```
    pub fn of(text: &str) -> Digest {
        Bytes(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns bytes of the system's randomness.
    pub(crate) fn random() -> io::Result<Bytes> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Bytes(bytes))
    }

    /// All bytes zero.
    pub(crate) const ZERO: Bytes = Bytes([0; N_BYTES]);

    /// Returns the bytes as words.
    pub(crate) fn words(&self) -> [u64; N_BYTES / 8] {
        let (chunks, _) = self.0.as_chunks::<8>();
        std::array::from_fn(|index| u64::from_le_bytes(chunks[index]))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> String {
        bytes.to_string()
    }
}

impl TryFrom<String> for Bytes {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Bytes, &'static str> {
        let wrong = "64 hexadecimal digits are expected";
        let (digits, rest) = text.as_bytes().as_chunks::<2>();
        if digits.len() != N_BYTES || !rest.is_empty() {
            return Err(wrong);
        }
        let mut bytes = [0; N_BYTES];
        for (byte, [high, low]) in bytes.iter_mut().zip(digits) {
            let value = |digit: &u8| char::from(*digit).to_digit(16).ok_or(wrong);
            *byte = (value(high)? * 16 + value(low)?) as u8;
        }
        Ok(Bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_one_token_and_one_claim() {
        let token = Token::new("a token of a test".replace(' ', "-").as_str()).unwrap();
        let (accepting, connecting) = (Bytes::random().unwrap(), Bytes::random().unwrap());
        let claim = |role, accepting, connecting, about| Claim { role, accepting, connecting, about };
        let proof = token.prove(&claim("worker", accepting, connecting, "run"));
        assert!(token.verify(&claim("worker", accepting, connecting, "run"), &proof));
        for other in [
            claim("supervisor", accepting, connecting, "run"),
            claim("worker", connecting, accepting, "run"),
            claim("worker", accepting, Bytes::ZERO, "run"),
            claim("worker", accepting, connecting, "other run"),
        ] {
            assert!(!token.verify(&other, &proof), "{} {}", other.role, other.about);
        }
        let other = Token::random().unwrap();
        assert!(!other.verify(&claim("worker", accepting, connecting, "run"), &proof));
        assert!(other != Token::random().unwrap() && other.text().len() == 64);
        assert_eq!(format!("{other:?}"), "Token(..)");
    }

    #[test]
    fn bytes_are_hexadecimal_digits() {
        let bytes = Bytes::random().unwrap();
        assert_eq!(Bytes::try_from(bytes.to_string()), Ok(bytes));
        let short = bytes.to_string()[..62].to_string();
        for text in [short.clone(), short.clone() + "xx", short.clone() + "+1", short + "001"] {
            assert!(Bytes::try_from(text).is_err());
        }
    }
}

//! Records: lines of a log, JSON values, times, and values as terms.
//!
//! | file | does |
//! |---|---|
//! | `lines` | lines of a log, from bytes that arrive in pieces |
//! | `followed_file` | a file that grows, and may be rotated or truncated |
//! | `json` | JSON values |
//! | `time` | times in records |
//! | `term` | JSON values as terms of LCC |

mod followed_file;
mod json;
mod lines;
mod term;
mod time;

pub use followed_file::{FollowedFile, Look};
pub use json::{BadJson, Json, MAX_RECORD_DEPTH};
pub use lines::{DEFAULT_LINE_BYTES, Line, LineContent, Lines};
pub use term::{NoTerm, text_constant};
pub use time::{Time, TimeUnit};

//! The definition, transcribed.

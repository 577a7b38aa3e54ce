//! Lints.
use super::Checker;
impl Checker<'_> {
    pub(super) fn lints(&mut self) {}
}

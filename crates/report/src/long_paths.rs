//! Which states of a long path are shown.

/// A state of a path that is shown, or a part of the path that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The state at this position.
    Position(usize),
    /// Number of states that are left out here.
    LeftOut(usize),
}

/// Maximum number of states between the two ends of a path that is shown whole. Leaving out a few states
/// would save little and make the path harder to follow.
const MAX_UNCUT_MIDDLE: usize = 14;

/// Chooses what to show of a path of `length` states: everything, or for a long path the first and the last
/// `ends` states and at most `ends` of the `important` ones, those nearest to the end.
pub(crate) fn cut(length: usize, ends: usize, important: &[usize]) -> Vec<Shown> {
    if length <= ends.saturating_mul(2).saturating_add(MAX_UNCUT_MIDDLE) {
        return (0..length).map(Shown::Position).collect();
    }
    let middle = ends..length - ends;
    let mut kept: Vec<usize> = important.iter().copied().filter(|p| middle.contains(p)).collect();
    kept.sort_unstable();
    kept.dedup();
    kept.drain(..kept.len().saturating_sub(ends));
    let positions = (0..ends).chain(kept).chain(length - ends..length);
    let mut shown = Vec::new();
    let mut next = 0;
    for position in positions {
        if position > next {
            shown.push(Shown::LeftOut(position - next));
        }
        shown.push(Shown::Position(position));
        next = position + 1;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `0 1 (7) 8`: positions, and in parentheses the number of states left out.
    fn text(shown: &[Shown]) -> String {
        let word = |shown: &Shown| match shown {
            Shown::Position(position) => position.to_string(),
            Shown::LeftOut(n) => format!("({n})"),
        };
        shown.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[rustfmt::skip]
    #[test]
    fn long_paths_are_cut() {
        let check = |length, important: &[usize], expected| {
            assert_eq!(text(&cut(length, 2, important)), expected, "{length} {important:?}");
        };
        check(0,      &[],               "");
        check(3,      &[],               "0 1 2");
        check(18,     &[4],              "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
        check(19,     &[],               "0 1 (15) 17 18");
        check(19,     &[2, 18, 0],       "0 1 2 (14) 17 18");
        assert_eq!(cut(100, usize::MAX, &[]).len(), 100, "no limit");
        check(10_000, &[5_000],          "0 1 (4998) 5000 (4997) 9998 9999");
        check(100,    &[50, 10, 70, 50], "0 1 (48) 50 (19) 70 (27) 98 99");
    }
}

//! Equal shares of the time for several properties, in rounds.
//!
//! One property that needs more time than there is must not take the time of the others:
//!
//! ```text
//! first round   each property gets  time left / properties left in this round
//! next round    the same for the properties that their share stopped, with the time that is left
//! ..            until all are finished or the time is up
//! ```
//!
//! Time that a property does not use goes to those after it. The last property of a round gets all the
//! time that is left, so a further round takes place only if that one was finished: there are at most
//! as many rounds as properties. Whatever a property gets is at least the time at the start divided by
//! the number of properties, in whatever order they are asked.

use crate::Budget;

/// Asks `n` questions within a budget, each within its share. `ask` gets the number of a question and
/// its share, and says whether the question is finished; one that is not is asked again in the next
/// round, if there is time.
///
/// ```
/// use masque_verdict::{Budget, in_shares};
/// // Three questions that need 2, 9 and 1 checks; work that was done is not lost.
/// let mut missing = [2, 9, 1];
/// let mut order = Vec::new();
/// in_shares(3, &Budget::default().with_steps(12), |number, share| {
///     order.push(number);
///     while missing[number] > 0 && share.check().is_ok() {
///         missing[number] -= 1;
///     }
///     missing[number] == 0
/// });
/// assert_eq!((missing, order), ([0, 0, 0], vec![0, 1, 2, 1]));
/// ```
pub fn in_shares(n: usize, budget: &Budget, mut ask: impl FnMut(usize, &Budget) -> bool) {
    let mut open: Vec<usize> = (0..n).collect();
    loop {
        let n_open = open.len();
        let mut n_left = n_open;
        open.retain(|&number| {
            let share = budget.share(n_left);
            n_left -= 1;
            !ask(number, &share)
        });
        if open.is_empty() || open.len() == n_open || budget.is_over() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much of what each question needs is missing after 100 steps.
    fn missing(mut needs: Vec<u32>) -> Vec<u32> {
        in_shares(needs.len(), &Budget::default().with_steps(100), |number, share| {
            while needs[number] > 0 && share.check().is_ok() {
                needs[number] -= 1;
            }
            needs[number] == 0
        });
        needs
    }

    #[test]
    fn nobody_gets_less_than_an_equal_share() {
        //                  needs                        missing          because
        assert_eq!(missing(vec![1000, 25, 25, 25]), [975, 0, 0, 0], "each has 25");
        assert_eq!(missing(vec![60, 10, 10, 10]), [0, 0, 0, 0], "25 at first, 45 in the second round");
        assert_eq!(missing(vec![10, 10, 10, 70]), [0, 0, 0, 0], "the last has all that is left");
        assert_eq!(missing(vec![40, 40, 1, 1]), [0, 0, 0, 0], "25 and 24, then the rest");
        assert_eq!(missing(vec![1000, 1000]), [950, 950], "no time is left for a second round");
        assert_eq!(missing(vec![34, 34, 34]), [1, 1, 0], "33, half of 67, then the other 34");
        assert_eq!(missing(vec![]), [0; 0]);
    }

    /// Without a deadline nobody is asked twice in vain.
    #[test]
    fn whoever_cannot_be_finished_is_left() {
        let mut n_asked = 0;
        in_shares(3, &Budget::default(), |_, _| {
            n_asked += 1;
            false
        });
        assert_eq!(n_asked, 3);
    }
}

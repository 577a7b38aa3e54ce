//! Equal shares of the time for several properties, in rounds.
//!
//! A property that needs more time than the limit must not use up the time of the others:
//!
//! ```text
//! first round   each property gets  remaining time / properties left in this round
//! next round    the same for the properties that ran out of time, with the remaining time
//! ..            until all properties are finished or no time remains
//! ```
//!
//! Time that a property does not use goes to those after it. The last property of a round gets all the
//! remaining time, so another round takes place only if that property was finished: there are at most as
//! many rounds as properties. Every property gets at least the initial time divided by the number of
//! properties, in any order of the properties.

use crate::Budget;

/// Performs `n` tasks within a budget, each within its share. `run` gets the index of a task and its
/// share, and returns whether the task is finished. An unfinished task is continued in the next round, if
/// time remains.
///
/// ```
/// use masque_verdict::{Budget, run_in_shares};
/// // Three tasks that need 2, 9 and 1 checks; work already done is not lost.
/// let mut missing = [2, 9, 1];
/// let mut order = Vec::new();
/// run_in_shares(3, &Budget::default().with_steps(12), |index, share| {
///     order.push(index);
///     while missing[index] > 0 && share.check().is_ok() {
///         missing[index] -= 1;
///     }
///     missing[index] == 0
/// });
/// assert_eq!((missing, order), ([0, 0, 0], vec![0, 1, 2, 1]));
/// ```
pub fn run_in_shares(n: usize, budget: &Budget, mut run: impl FnMut(usize, &Budget) -> bool) {
    let mut open: Vec<usize> = (0..n).collect();
    loop {
        let n_open = open.len();
        let mut n_left = n_open;
        open.retain(|&index| {
            let share = budget.share(n_left);
            n_left -= 1;
            !run(index, &share)
        });
        if open.is_empty() || open.len() == n_open || budget.is_over() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of checks that each task still needs after 100 checks in total.
    fn missing(mut needs: Vec<u32>) -> Vec<u32> {
        run_in_shares(needs.len(), &Budget::default().with_steps(100), |index, share| {
            while needs[index] > 0 && share.check().is_ok() {
                needs[index] -= 1;
            }
            needs[index] == 0
        });
        needs
    }

    #[test]
    fn every_task_gets_at_least_an_equal_share() {
        //                  needs                        missing          because
        assert_eq!(missing(vec![1000, 25, 25, 25]), [975, 0, 0, 0], "each gets 25");
        assert_eq!(missing(vec![60, 10, 10, 10]), [0, 0, 0, 0], "25 at first, 45 in the second round");
        assert_eq!(missing(vec![10, 10, 10, 70]), [0, 0, 0, 0], "the last gets all that remains");
        assert_eq!(missing(vec![40, 40, 1, 1]), [0, 0, 0, 0], "25 and 24, then the rest");
        assert_eq!(missing(vec![1000, 1000]), [950, 950], "no time remains for a second round");
        assert_eq!(missing(vec![34, 34, 34]), [1, 1, 0], "33, half of 67, then the other 34");
        assert_eq!(missing(vec![]), [0; 0]);
    }

    /// Without a deadline, unfinished tasks are not tried twice.
    #[test]
    fn tasks_that_cannot_be_finished_are_given_up() {
        let mut n_runs = 0;
        run_in_shares(3, &Budget::default(), |_, _| {
            n_runs += 1;
            false
        });
        assert_eq!(n_runs, 3);
    }
}

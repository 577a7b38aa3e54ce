//! Places of the states in the drawing of the state graph.
//!
//! States are in columns by their distance from the initial states, so the drawing stays as it is when a formula or
//! an agent is chosen, and grows at its right when there are more states. Within a column a state is placed near the
//! states that lead to it, which keeps most steps short.

/// Distance between two columns, in pixels.
const COLUMN_WIDTH: f64 = 110.0;
/// Distance between two states of a column, in pixels.
const ROW_HEIGHT: f64 = 34.0;
/// Maximum number of states of a column above each other; more are placed in further columns beside it.
const MAX_ROWS: usize = 40;
/// Margin of the drawing, in pixels.
const MARGIN: f64 = 30.0;

/// A drawing of states.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// Middle of each state.
    pub(crate) places: Vec<(f64, f64)>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Places states; the first `n_initial` are initial, and steps lead from one index to another.
pub(crate) fn layout(n_states: usize, n_initial: usize, steps: &[(usize, usize)]) -> Layout {
    let layers = layers(n_states, n_initial, steps);
    let n_layers = layers.iter().max().map_or(0, |last| last + 1);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); n_layers];
    for (state, &layer) in layers.iter().enumerate() {
        columns[layer].push(state);
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); n_states];
    for &(from, to) in steps {
        if layers[from] < layers[to] {
            before[to].push(from);
        }
    }
    let mut places = vec![(0.0, 0.0); n_states];
    let tallest = columns.iter().map(|column| column.len().min(MAX_ROWS)).max().unwrap_or(0);
    let middle = MARGIN + tallest.saturating_sub(1) as f64 * ROW_HEIGHT / 2.0;
    let mut x = MARGIN;
    for column in &mut columns {
        let weight = |state: &usize| {
            let sources = &before[*state];
            let sum: f64 = sources.iter().map(|&source| places[source].1).sum();
            if sources.is_empty() { f64::INFINITY } else { sum / sources.len() as f64 }
        };
        let mut weighted: Vec<(f64, usize)> = column.iter().map(|state| (weight(state), *state)).collect();
        weighted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for part in weighted.chunks(MAX_ROWS) {
            let top = middle - (part.len() - 1) as f64 * ROW_HEIGHT / 2.0;
            for (row, (_, state)) in part.iter().enumerate() {
                places[*state] = (x, top + row as f64 * ROW_HEIGHT);
            }
            x += if part.len() == MAX_ROWS { COLUMN_WIDTH / 2.0 } else { COLUMN_WIDTH };
        }
    }
    let width = places.iter().map(|place| place.0).fold(0.0, f64::max) + 2.0 * MARGIN;
    let height = places.iter().map(|place| place.1).fold(0.0, f64::max) + MARGIN;
    Layout { places, width, height }
}

/// The least number of steps from an initial state to each state. A state that no step reaches is in the first
/// layer.
fn layers(n_states: usize, n_initial: usize, steps: &[(usize, usize)]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); n_states];
    steps.iter().for_each(|&(from, to)| after[from].push(to));
    let mut layers = vec![None; n_states];
    let mut queue: std::collections::VecDeque<usize> = (0..n_initial.min(n_states)).collect();
    queue.iter().for_each(|&state| layers[state] = Some(0));
    while let Some(state) = queue.pop_front() {
        for &next in &after[state] {
            if layers[next].is_none() {
                layers[next] = layers[state].map(|layer: usize| layer + 1);
                queue.push_back(next);
            }
        }
    }
    layers.into_iter().map(|layer| layer.unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_in_columns_by_their_distance() {
        let found = layout(4, 1, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)]);
        let columns: Vec<f64> = found.places.iter().map(|place| place.0).collect();
        assert!(columns[0] < columns[1] && columns[1] == columns[2] && columns[2] < columns[3]);
        assert!(found.places[1].1 < found.places[2].1);
        assert_eq!(layout(0, 0, &[]).places, Vec::new());
    }

    /// More states at the end of the list leave the places of the others in their columns.
    #[test]
    fn no_two_states_share_a_place() {
        let steps: Vec<(usize, usize)> = (1..500).map(|state| (state / 3, state)).collect();
        let found = layout(500, 1, &steps);
        let mut places: Vec<(i64, i64)> = found.places.iter().map(|(x, y)| (*x as i64, *y as i64)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 500);
    }
}

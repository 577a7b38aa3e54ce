//! Tests that compare operations on sets with their definitions.

use super::*;

#[test]
fn sets_of_three_bits() {
    let space = Space::new(3, &Budget::default()).unwrap();
    let bit = |i| space.bit(i, true).unwrap();
    let (a, b, c) = (bit(0), bit(1), bit(2));
    let ab = space.and(&a, &b).unwrap();
    let set = space.or(&ab, &c).unwrap();
    assert_eq!(space.count(&set, 3).to_string(), "5");
    assert_eq!(space.support(&ab), [0, 1]);
    let cube = space.cube([1]).unwrap();
    assert!(space.exists(&ab, &cube).unwrap() == a);
    assert!(space.and_exists(&a, &b, &cube).unwrap() == a);
    assert!(space.minus(&a, &ab).unwrap() == space.and(&a, &space.not(&b).unwrap()).unwrap());
    let swap = space.renaming([(0, 2), (2, 0)]);
    assert!(space.rename(&ab, &swap).unwrap() == space.and(&c, &b).unwrap());
    let other = Space::new(3, &Budget::default()).unwrap();
    let copy = other.unpack(&space.pack(&set)).unwrap();
    assert_eq!(other.count(&copy, 3).to_string(), "5");
}

#[test]
fn common_valuations() {
    for seed in 1..400 {
        let space = Space::new(8, &Budget::default()).unwrap();
        let (a, b) = (random_set(&space, seed), random_set(&space, seed * 31 + 7));
        for (a, b) in [(&a, &b), (&a, &space.not(&a).unwrap()), (&space.minus(&a, &b).unwrap(), &b)] {
            let expected = !space.and(a, b).unwrap().is_empty();
            assert_eq!(space.intersects(a, b).unwrap(), expected, "seed {seed}");
            for mut steps in 0..30 {
                let found = space.share_path(&a.0, &b.0, &mut steps, &mut FxHashSet::default());
                assert!(found.is_none_or(|found| found == expected), "seed {seed}");
            }
        }
    }
}

#[test]
fn literals_and_branches() {
    let space = Space::new(4, &Budget::default()).unwrap();
    let bit = |i, value| space.bit(i, value).unwrap();
    let both = space.and(&bit(1, false), &bit(3, true)).unwrap();
    assert!(space.literals([(1, false), (3, true)]).unwrap() == both);
    assert!(space.literals([]).unwrap().is_all());
    let expected = space.ite(&bit(0, true), &both, &bit(2, true)).unwrap();
    assert!(space.branch(0, &both, &bit(2, true)).unwrap() == expected);
    assert!(space.branch(0, &both, &both).unwrap() == both);
}

#[test]
fn the_least_valuation() {
    for seed in 1..300 {
        let space = Space::new(8, &Budget::default()).unwrap();
        let set = random_set(&space, seed);
        if set.is_empty() {
            continue;
        }
        let mut order: Vec<Bit> = (0..8).collect();
        order.rotate_left((seed % 8) as usize);
        let is_in = |valuation: u32| {
            let bits = order.iter().enumerate().map(|(k, &bit)| (bit, valuation >> (7 - k) & 1 == 1));
            let sets: Vec<Set> = bits.map(|(bit, value)| space.bit(bit, value).unwrap()).collect();
            let one = sets.iter().fold(space.all(), |all, set| space.and(&all, set).unwrap());
            space.intersects(&one, &set).unwrap()
        };
        let expected = (0..256).find(|&valuation| is_in(valuation)).unwrap();
        let found = space.least(&set, &order).unwrap();
        let found = found.into_iter().fold(0, |code, bit| code << 1 | u32::from(bit));
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// Returns a pseudorandom set of eight bits.
fn random_set(space: &Space, seed: u64) -> Set {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut sets: Vec<Set> = (0..8).map(|i| space.bit(i, next(2) == 0).unwrap()).collect();
    for _ in 0..12 {
        let (i, j) = (next(sets.len() as u64) as usize, next(sets.len() as u64) as usize);
        let set = match next(3) {
            0 => space.and(&sets[i], &sets[j]),
            1 => space.or(&sets[i], &sets[j]),
            _ => space.xor(&sets[i], &sets[j]),
        };
        sets.push(set.unwrap());
    }
    sets.pop().unwrap()
}

#[test]
fn sifting_does_not_change_sets() {
    for seed in 1..200 {
        let space = Space::new(8, &Budget::default()).unwrap();
        let sets: Vec<Set> = (0..6).map(|k| random_set(&space, seed * 100 + k)).collect();
        let cubes =
            || [&[0u32, 3][..], &[1, 2, 5], &[7]].map(|bits| space.cube(bits.iter().copied()).unwrap());
        let quantified = || -> Vec<Set> {
            let pairs = sets.iter().flat_map(|set| cubes().map(|cube| (set, cube)));
            pairs.map(|(set, cube)| space.exists(set, &cube).unwrap()).collect()
        };
        let before = quantified();
        let counts: Vec<String> = sets.iter().map(|s| space.count(s, 8).to_string()).collect();
        let blocks = vec![vec![0, 1], vec![2], vec![3, 4, 5], vec![6], vec![7]];
        space.sift(&blocks, u64::MAX);
        for (k, set) in sets.iter().enumerate() {
            assert!(*set == random_set(&space, seed * 100 + k as u64), "seed {seed}: set {k} has changed");
            assert_eq!(space.count(set, 8).to_string(), counts[k], "seed {seed}: set {k}");
        }
        assert!(before == quantified(), "seed {seed}: quantified sets");
    }
}

/// Compares simplified sets with the originals where it matters, on random sets of a few bits.
#[test]
fn simplified_sets_agree_where_it_matters() {
    let n = 6;
    let space = Space::new(n, &Budget::default()).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let mut set = |n_cubes: u32| {
        (0..n_cubes).fold(space.none(), |union, _| {
            let literals: Vec<(Bit, bool)> = (0..n)
                .filter_map(|bit| {
                    let value = random.bool();
                    random.bool().then_some((bit, value))
                })
                .collect();
            space.or(&union, &space.valuation(literals).unwrap()).unwrap()
        })
    };
    let mut n_smaller = 0;
    for i in 0..500 {
        let (a, care) = (set(i % 7), set(i % 5));
        for a in [space.not(&a).unwrap(), a] {
            let simple = space.simplify(&a, &care).unwrap();
            assert!(space.and(&simple, &care).unwrap() == space.and(&a, &care).unwrap());
            n_smaller += u32::from(space.size(&simple) < space.size(&a));
        }
    }
    assert!(n_smaller > 100, "{n_smaller}");
}

/// All reachable states in which a condition is true are simplified to the condition.
#[test]
fn a_condition_is_left_of_the_states_in_which_it_is_true() {
    let space = Space::new(6, &Budget::default()).unwrap();
    let bit = |i| space.bit(i, true).unwrap();
    let states = space.or(&space.iff(&bit(0), &bit(5)).unwrap(), &bit(3)).unwrap();
    for condition in [space.all(), space.none(), bit(2), space.not(&bit(4)).unwrap()] {
        let inside = space.and(&condition, &states).unwrap();
        assert!(space.simplify(&inside, &states).unwrap() == condition);
    }
}

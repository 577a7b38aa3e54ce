//! What agents know: states that look alike, wherever they are kept.
//!
//! What an agent sees of a state, its *view*, is a row with all other bits zero. Each view has an
//! owner among the workers, told by the view's row; every worker registers the different views of
//! its states there, by their exact rows. The owner numbers them and knows who else has states that
//! look so. From then on only numbers travel: a worker with a state where `φ` is false *touches* its
//! view, the owner tells all others that have it, and they know which of their states do not know
//! `φ`. Equal hashes are never taken for equal views.

use std::rc::Rc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use masque_explicit::parts::{Bitset, hash_masked};
use masque_model::GroupId;
use masque_verdict::{Budget, Stop};

use crate::graph::Place;
use crate::net::{Net, Outbox, Task};
use crate::shard::Shard;
use crate::store::{Store, owner};

/// So many views are kept.
const N_VIEWS: usize = 2;
/// States looked at between two looks at what has come in.
const STRIDE: usize = 4096;
/// States looked at by a worker in a round.
const ROUND: usize = 1 << 16;

/// How the states kept here look to somebody.
#[derive(Debug)]
pub(crate) struct View {
    /// For each state its class: which of the views met here it has.
    class: Vec<u32>,
    /// For each class the place of the view: its owner, and its number there.
    places: Vec<Place>,
    /// For each view owned here, where in `holders` its holders begin, and at last their number.
    begins: Vec<u32>,
    /// The classes, at all workers, that have the views owned here.
    holders: Vec<Place>,
}

impl View {
    /// The class of a state.
    pub(crate) fn of(&self, state: usize) -> u32 {
        self.class[state]
    }

    /// How many classes there are here.
    fn n_classes(&self) -> usize {
        self.places.len()
    }

    /// How many views this worker owns.
    fn n_owned(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn bytes(&self) -> u64 {
        let long = self.places.capacity() + self.holders.capacity();
        let short = self.class.capacity() + self.begins.capacity();
        long as u64 * 8 + short as u64 * 4
    }

    /// Groups the states of all workers by the bits of a mask.
    fn new(net: &mut Net, states: &Store, mask: &[u64]) -> Result<View, Stop> {
        let budget = net.budget.clone();
        let mut register = Register {
            me: net.index(),
            peers: net.peers(),
            budget: &budget,
            states,
            mask,
            next: 0,
            until: 0,
            class: Vec::with_capacity(states.len()),
            first: Vec::new(),
            index: HashTable::new(),
            view: vec![0; mask.len()],
            owned: Store::new(mask.len()),
            holders: Vec::new(),
        };
        net.work_off(&mut register)?;
        let Register { class, first, owned, mut holders, .. } = register;
        let n_owned = owned.len();
        drop(owned);
        // By number, then by place: so the order in which they came does not matter.
        holders.sort_unstable();
        let mut begins = vec![0_u32; n_owned + 1];
        holders.iter().for_each(|(number, _)| begins[*number as usize + 1] += 1);
        for number in 0..n_owned {
            begins[number + 1] += begins[number];
        }
        let places = vec![Place(0); first.len()];
        drop(first);
        let mut tell = TellNumbers { me: net.index(), holders: &holders, next: 0, until: 0, places };
        net.work_off(&mut tell)?;
        let places = tell.places;
        let holders = holders.into_iter().map(|(_, place)| Place(place)).collect();
        Ok(View { class, places, begins, holders })
    }
}

/// Finds the views of this worker's states, and has them registered with their owners.
struct Register<'a> {
    me: usize,
    peers: usize,
    budget: &'a Budget,
    states: &'a Store,
    mask: &'a [u64],
    next: usize,
    until: usize,
    class: Vec<u32>,
    /// The first state of each class.
    first: Vec<u32>,
    /// Classes, by the view of their first state.
    index: HashTable<u32>,
    view: Vec<u64>,
    /// The views owned here.
    owned: Store,
    /// The number of a view owned here, and the place of a class that has it.
    holders: Vec<(u32, u64)>,
}

impl Register<'_> {
    fn look_at(&mut self, state: usize, out: &mut Outbox) -> Result<(), Stop> {
        let (states, mask, first) = (self.states, self.mask, &self.first);
        let row = states.row(state);
        let view_of = |class: u32| states.row(first[class as usize] as usize);
        let looks_same =
            |class: u32| row.iter().zip(view_of(class)).zip(mask).all(|((a, b), m)| (a ^ b) & m == 0);
        let hash = hash_masked(row, mask);
        match self.index.entry(hash, |&class| looks_same(class), |&class| hash_masked(view_of(class), mask)) {
            Entry::Occupied(entry) => self.class.push(*entry.get()),
            Entry::Vacant(entry) => {
                let class = first.len() as u32;
                entry.insert(class);
                self.class.push(class);
                self.first.push(state as u32);
                self.view.clear();
                self.view.extend(row.iter().zip(mask).map(|(word, mask)| word & mask));
                match owner(&self.view, self.peers) {
                    to if to == self.me => {
                        let number = self.owned.insert(&self.view)?;
                        self.holders.push((number, Place::new(self.me, class).0));
                    }
                    to => out.send_two(to, &self.view, &[u64::from(class)]),
                }
            }
        }
        Ok(())
    }
}

impl Task for Register<'_> {
    fn begin(&mut self) {
        self.until = self.states.len().min(self.next + ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STRIDE);
        while self.next < end {
            self.look_at(self.next, out)?;
            self.next += 1;
        }
        let held = self.states.bytes() + self.owned.bytes_soon() + self.index.allocation_size() as u64;
        let lists = self.class.capacity() * 4 + self.first.capacity() * 4 + self.holders.capacity() * 16;
        self.budget.check_memory(held + lists as u64)?;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.mask.len();
        for record in words.chunks_exact(width + 1) {
            let number = self.owned.insert(&record[..width])?;
            self.holders.push((number, Place::new(from, record[width] as u32).0));
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.states.len() - self.next) as u64]
    }
}

/// Owners tell the holders of a view its number.
struct TellNumbers<'a> {
    me: usize,
    holders: &'a [(u32, u64)],
    next: usize,
    until: usize,
    places: Vec<Place>,
}

impl Task for TellNumbers<'_> {
    fn begin(&mut self) {
        self.until = self.holders.len().min(self.next + ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STRIDE);
        for &(number, holder) in &self.holders[self.next..end] {
            let holder = Place(holder);
            if holder.worker() == self.me {
                self.places[holder.number() as usize] = Place::new(self.me, number);
            } else {
                out.send(holder.worker(), &[u64::from(holder.number()), u64::from(number)]);
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        for record in words.chunks_exact(2) {
            self.places[record[0] as usize] = Place::new(from, record[1] as u32);
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.holders.len() - self.next) as u64]
    }
}

/// Which classes and views have been touched.
pub(crate) struct Touched {
    classes: Bitset,
    owned: Bitset,
}

impl Touched {
    pub(crate) fn none(view: &View) -> Touched {
        Touched { classes: Bitset::empty(view.n_classes()), owned: Bitset::empty(view.n_owned()) }
    }

    /// Whether a state has a view that was touched.
    pub(crate) fn contains(&self, view: &View, state: usize) -> bool {
        self.classes.contains(view.of(state) as usize)
    }

    /// Touches the views of these states, at all workers.
    pub(crate) fn touch(&mut self, net: &mut Net, view: &View, states: &Bitset) -> Result<(), Stop> {
        let me = net.index();
        let mut task = Touching { me, view, touched: self, new: Vec::new(), open: Vec::new(), n_sent: 0 };
        for state in states.iter() {
            task.touch_class(view.of(state));
        }
        net.run(&mut task)
    }
}

struct Touching<'a> {
    me: usize,
    view: &'a View,
    touched: &'a mut Touched,
    /// Classes that were touched here, and whose owner is to be told.
    new: Vec<u32>,
    /// Views owned here that were touched, and whose holders are to be told.
    open: Vec<u32>,
    /// In this round.
    n_sent: usize,
}

/// To an owner: a view of yours was touched. To a holder: a class of yours was.
const TO_OWNER: u64 = 1 << 32;

impl Touching<'_> {
    fn touch_class(&mut self, class: u32) {
        if self.touched.classes.insert(class as usize) {
            self.new.push(class);
        }
    }

    fn touch_owned(&mut self, number: u32) {
        if self.touched.owned.insert(number as usize) {
            self.open.push(number);
        }
    }
}

impl Task for Touching<'_> {
    fn begin(&mut self) {
        self.n_sent = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        if self.n_sent >= ROUND {
            return Ok(false);
        }
        for _ in 0..STRIDE {
            if let Some(class) = self.new.pop() {
                let place = self.view.places[class as usize];
                match place.worker() == self.me {
                    true => self.touch_owned(place.number()),
                    false => out.send(place.worker(), &[TO_OWNER | u64::from(place.number())]),
                }
            } else if let Some(number) = self.open.pop() {
                let view = self.view;
                let holders = view.begins[number as usize]..view.begins[number as usize + 1];
                for holder in &view.holders[holders.start as usize..holders.end as usize] {
                    match holder.worker() == self.me {
                        // Touched by another: its owner, this worker, knows.
                        true => _ = self.touched.classes.insert(holder.number() as usize),
                        false => out.send(holder.worker(), &[u64::from(holder.number())]),
                    }
                }
            } else {
                return Ok(false);
            }
            self.n_sent += 1;
        }
        Ok(true)
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        for &word in words {
            match word & TO_OWNER != 0 {
                true => self.touch_owned(word as u32),
                false => _ = self.touched.classes.insert(word as usize),
            }
        }
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![(self.new.len() + self.open.len()) as u64]
    }
}

impl Shard<'_> {
    /// What is known by those who see the bits of a mask, given where `φ` is false.
    ///
    /// ```text
    /// ⟦K_i φ⟧ = D ∖ {s | some t ∈ D ∖ ⟦φ⟧ has l_i(t) = l_i(s)}
    /// ```
    pub(crate) fn knows(
        &mut self,
        mask: Vec<u64>,
        domain: &Bitset,
        not_phi: &Bitset,
    ) -> Result<Bitset, Stop> {
        let view = self.view(mask)?;
        let mut touched = Touched::none(&view);
        touched.touch(&mut self.net, &view, not_phi)?;
        Ok(domain.filter(|state| !touched.contains(&view, state)))
    }

    /// `C_Γ φ = νZ. E_Γ(φ ∧ Z)`, given where `φ` is false: `bad`.
    ///
    /// Computed from outside: what some member confuses with a bad state is bad, until nothing more
    /// becomes so. Each view is touched once.
    pub(crate) fn common_knowledge(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        mut bad: Bitset,
    ) -> Result<Bitset, Stop> {
        let mut members = Vec::new();
        for view in self.group_views(group)? {
            let touched = Touched::none(&view);
            members.push((view, touched, Bitset::empty(self.n_states())));
        }
        loop {
            let n_before = bad.count();
            for (view, touched, seen) in &mut members {
                let new = bad.clone().minus(seen);
                *seen = bad.clone();
                touched.touch(&mut self.net, view, &new)?;
                bad = domain.filter(|state| bad.contains(state) || touched.contains(view, state));
            }
            if !self.net.any(bad.count() != n_before)? {
                return Ok(domain.clone().minus(&bad));
            }
        }
    }

    /// The views of the members of a group, in order.
    pub(crate) fn group_views(&mut self, group: GroupId) -> Result<Vec<Rc<View>>, Stop> {
        let mut views: Vec<Rc<View>> = Vec::new();
        for &agent in &self.system.groups[group.index()].agents {
            let held: u64 = views.iter().map(|view| view.bytes()).sum();
            self.check_memory(held)?;
            views.push(self.view(self.mask(&[agent]))?);
        }
        Ok(views)
    }

    /// How all states look through a mask.
    fn view(&mut self, mask: Vec<u64>) -> Result<Rc<View>, Stop> {
        if let Some(position) = self.views.iter().position(|(known, _)| *known == mask) {
            let view = self.views.remove(position);
            self.views.push(view);
        } else {
            if self.views.len() == N_VIEWS {
                self.views.remove(0);
            }
            self.check_memory(self.n_states() as u64 * 14)?;
            let view = View::new(&mut self.net, &self.space.store, &mask)?;
            self.views.push((mask, Rc::new(view)));
        }
        Ok(Rc::clone(&self.views[self.views.len() - 1].1))
    }
}

//! Typed indices into tables.

/// Declares index types, one per table. Ids are assigned densely from 0.
///
/// ```
/// masque_text::ids! {
///     /// A state of a transition system.
///     StateId,
/// }
/// let names = ["off", "on"];
/// assert_eq!(names[StateId(1).index()], "on");
/// ```
#[macro_export]
macro_rules! ids {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index in the table that this id belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

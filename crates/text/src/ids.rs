//! Numbers for things in tables.

/// Declares types of numbers that are handed out densely from 0, one for each table.
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
            /// The position in the table this id belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

//! Makes entries.

use extraboard_connect::Entry;
use proptest::collection::{btree_map, vec};
use proptest::prelude::{Strategy, any};

/// Entries of ours, with strings of any kind: control characters too, which need escapes.
pub(crate) fn entry() -> impl Strategy<Value = Entry> {
    let (args, env) = (vec(text(), 0..3), btree_map(text(), text(), 0..3));
    (text(), args, env).prop_map(|(command, mut args, env)| {
        args.push("mcp".to_owned());
        Entry { command, args, env }
    })
}

fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..6).prop_map(String::from_iter)
}

//! The parts that templates share.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use handlebars::Template;

use crate::read::read;
use crate::tree::{Node, NodeKind};

/// The parts by name. One may use those before it, so that none contains itself.
const TEXTS: &[(&str, &str)] = &[
    ("data_notice", include_str!("../templates/partials/data_notice.hbs")),
    ("issue_context", include_str!("../templates/partials/issue_context.hbs")),
    ("parent_context", include_str!("../templates/partials/parent_context.hbs")),
    ("sibling_context", include_str!("../templates/partials/sibling_context.hbs")),
    ("project_and_goal_context", include_str!("../templates/partials/project_and_goal_context.hbs")),
    ("earlier_attempts", include_str!("../templates/partials/earlier_attempts.hbs")),
    ("comments", include_str!("../templates/partials/comments.hbs")),
    ("api_reference", include_str!("../templates/partials/api_reference.hbs")),
    ("review_instructions", include_str!("../templates/partials/review_instructions.hbs")),
    ("reporting", include_str!("../templates/partials/reporting.hbs")),
    ("summary_only", include_str!("../templates/partials/summary_only.hbs")),
    ("template_language", include_str!("../templates/partials/template_language.hbs")),
];

/// The parts that may be used.
#[derive(Debug, Default)]
pub(crate) struct Partials(HashMap<&'static str, Partial>);

/// A part that is shared.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) nodes: Arc<[Node]>,
    /// How many `each` stand within each other in it.
    pub(crate) loops: usize,
}

impl Partials {
    /// Returns the parts Extraboard ships.
    pub(crate) fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Partials> = LazyLock::new(|| {
            TEXTS.iter().fold(Partials::default(), |mut partials, (name, text)| {
                let template = Template::compile(text).expect("a shipped partial parses: a test says so");
                let nodes = read(&template, &partials).expect("a shipped partial is sound: a test says so");
                let loops = loops(&nodes);
                partials.0.insert(name, Partial { nodes: nodes.into(), loops });
                partials
            })
        });
        &SHIPPED
    }

    /// Returns the part of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Partial> {
        self.0.get(name)
    }
}

fn loops(nodes: &[Node]) -> usize {
    let deepest = nodes.iter().map(|node| match &node.kind {
        NodeKind::Literal(_) | NodeKind::Print(_) | NodeKind::Json(_) => 0,
        NodeKind::Branch(branch) => loops(&branch.then).max(loops(&branch.otherwise)),
        NodeKind::Each(each) => (1 + loops(&each.body)).max(loops(&each.otherwise)),
        NodeKind::With(with) => loops(&with.body).max(loops(&with.otherwise)),
        NodeKind::Partial(nodes) => loops(nodes),
    });
    deepest.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;

    #[test]
    fn every_shipped_partial_is_a_template() {
        assert!(TEXTS.iter().all(|(name, _)| Partials::shipped().get(name).is_some()));
        for (name, text) in TEXTS {
            compile(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

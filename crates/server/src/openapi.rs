//! The contract for programs: OpenAPI, made from the wire types and a table of operations.

mod loops;
mod operation;
mod operations;

use std::sync::OnceLock;

use extraboard_api::error::ErrorBody;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use self::operation::Operation;

/// Returns the document; it is made once.
pub(crate) fn document(version: &str) -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| make(version))
}

fn make(version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let paths = paths(&operations::all(), &mut generator);
    generator.subschema_for::<ErrorBody>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Extraboard",
            "version": version,
            "description": "The dispatch desk for AI agents. The contract in prose is docs/api.md.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags(),
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "an admin, agent, node, viewer or dispatch token" },
                "agent": { "type": "apiKey", "in": "header", "name": "X-Agent-ID", "description": "the name of an agent, where names are believed" },
            },
        },
        "security": [{}, { "token": [] }, { "agent": [] }],
    })
}

fn tags() -> Value {
    let tags = [
        ("issues", "The work, and what stands around it"),
        ("dispatches", "Taking work, and reporting on it"),
        ("signals", "What the world says, and labels"),
        ("templates", "What prompts are made by, and how they do"),
        ("projects", "Projects and goals"),
        ("inbox", "What waits for a person"),
        ("desk", "The desk itself: events, rules, gates, tokens"),
    ];
    tags.map(|(name, description)| json!({ "name": name, "description": description })).into()
}

fn paths(operations: &[Operation], generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let item = paths.entry(operation.path.to_owned()).or_insert_with(|| json!({}));
        item[operation.method] = operation.shown(generator);
    }
    paths
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn routes_of_the_document() -> BTreeSet<(String, String)> {
        let document = make("0");
        let paths = document["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| {
            let methods: Vec<_> = item.as_object().unwrap().keys().cloned().collect();
            methods.into_iter().map(|method| (path.clone(), method)).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of_path).collect()
    }

    /// Reads the routes off the source of the router: `.route("path", get(…).post(…))`.
    fn routes_of_the_router() -> BTreeSet<(String, String)> {
        let source: String = include_str!("app.rs").split_whitespace().collect();
        let mut routes = BTreeSet::new();
        for route in source.split(".route(").skip(1) {
            let route = route.trim_start_matches('"');
            let (path, rest) = route.split_once('"').unwrap();
            // A handler's own name may hold a method's: only calls that are given a handler count.
            for method in ["get", "post", "put", "patch", "delete"] {
                if rest.contains(&format!("{method}(http::")) {
                    routes.insert((path.to_owned(), method.to_owned()));
                }
            }
        }
        routes
    }

    #[test]
    fn the_document_tells_of_every_route_and_of_no_other() {
        let mut expected = routes_of_the_router();
        // One route for the verbs of the state machine, told one by one.
        assert!(expected.remove(&("/api/issues/{id}/{verb}".to_owned(), "post".to_owned())));
        for verb in
            extraboard_core::state::Verb::ALL.iter().filter(|verb| extraboard_core::patch::has_route(**verb))
        {
            expected.insert((format!("/api/issues/{{id}}/{verb}"), "post".to_owned()));
        }
        assert_eq!(routes_of_the_document(), expected);
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_operation_has_its_own_id() {
        let document = make("0");
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        let operations = operations::all();
        let ids: BTreeSet<_> = operations.iter().map(|operation| operation.id).collect();
        assert_eq!(ids.len(), operations.len());
    }

    #[test]
    fn the_document_is_as_recorded() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&make("0")).unwrap());
    }
}

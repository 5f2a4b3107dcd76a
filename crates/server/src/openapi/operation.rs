//! One operation of the API, and how the document shows it.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Makes the schema of a type.
type Of = fn(&mut SchemaGenerator) -> Schema;
/// Makes the parameters of a query.
type Parameters = fn() -> Vec<Value>;

/// One operation.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    tag: &'static str,
    summary: &'static str,
    admin: bool,
    parameters: Vec<Value>,
    query: Option<Parameters>,
    body: Option<Of>,
    answers: Vec<Answer>,
}

/// A successful answer.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    description: &'static str,
    content: Vec<(&'static str, Of)>,
}

/// Begins an operation of this group.
pub(super) fn operation(
    tag: &'static str,
    method: &'static str,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    let (parameters, answers) = (Vec::new(), Vec::new());
    Operation { method, path, id, tag, summary, admin: false, parameters, query: None, body: None, answers }
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Operation {
    /// Says that it is for persons.
    pub(super) fn admin(mut self) -> Self {
        self.admin = true;
        self
    }

    /// Adds a header.
    pub(super) fn header(mut self, name: &str, description: &str, schema: &Value) -> Self {
        self.parameters
            .push(json!({ "name": name, "in": "header", "description": description, "schema": schema }));
        self
    }

    /// Adds the parameters of a query.
    pub(super) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(parameters::<T>);
        self
    }

    /// Adds a body.
    pub(super) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(of::<T>);
        self
    }

    /// Adds an answer in JSON.
    pub(super) fn answers<T: JsonSchema>(self, status: u16, description: &'static str) -> Self {
        self.answers_as::<T>(status, description, "application/json")
    }

    /// Adds an answer of another type, or another type of an answer.
    pub(super) fn answers_as<T: JsonSchema>(
        mut self,
        status: u16,
        description: &'static str,
        media_type: &'static str,
    ) -> Self {
        let content = (media_type, of::<T> as Of);
        match self.answers.iter_mut().find(|answer| answer.status == status) {
            Some(answer) => answer.content.push(content),
            None => self.answers.push(Answer { status, description, content: vec![content] }),
        }
        self
    }

    /// Adds an answer without a body.
    pub(super) fn answers_nothing(mut self, status: u16, description: &'static str) -> Self {
        self.answers.push(Answer { status, description, content: Vec::new() });
        self
    }

    /// Shows the operation as OpenAPI does.
    pub(super) fn shown(&self, generator: &mut SchemaGenerator) -> Value {
        let mut parameters = path_parameters(self.path);
        parameters.extend(self.query.map(|query| query()).unwrap_or_default());
        parameters.extend(self.parameters.clone());
        let mut shown = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "responses": self.responses(generator),
        });
        if !parameters.is_empty() {
            shown["parameters"] = parameters.into();
        }
        if let Some(body) = self.body {
            let schema = body(generator);
            shown["requestBody"] = json!({ "content": { "application/json": { "schema": schema } } });
        }
        if self.admin {
            shown["security"] = json!([{ "token": [] }]);
        }
        shown
    }

    fn responses(&self, generator: &mut SchemaGenerator) -> Value {
        let mut responses = json!({});
        for answer in &self.answers {
            let mut shown = json!({ "description": answer.description });
            for (media_type, schema) in &answer.content {
                shown["content"][media_type] = json!({ "schema": schema(generator) });
            }
            responses[answer.status.to_string()] = shown;
        }
        let error = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } });
        responses["4XX"] = json!({ "description": "the request cannot be granted", "content": error });
        responses["503"] = json!({ "description": "the database does not answer", "content": error });
        responses
    }
}

/// Returns the parameters a path names.
fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let shown =
        |name| json!({ "name": name, "in": "path", "required": true, "schema": path_schema(path, name) });
    names.map(shown).collect()
}

/// Returns how whatever a path is about is named.
fn path_schema(path: &str, name: &str) -> Value {
    let uuid = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";
    match (path.split('/').nth(2), name) {
        (Some("issues"), "id") => json!({
            "type": "string",
            "description": "the number or the uuid of the issue",
            "pattern": format!("^([1-9][0-9]{{0,17}}|{uuid})$"),
        }),
        (Some("dispatches" | "relations" | "goals"), "id") => json!({ "type": "string", "format": "uuid" }),
        (Some("projects"), "id") => {
            json!({ "type": "string", "description": "the uuid or the name of the project", "minLength": 1 })
        }
        (Some("inbox"), "id") => json!({ "type": "integer", "minimum": 1 }),
        (Some("tokens"), "id") => json!({ "type": "string", "pattern": "^[0-9a-f]{12}$" }),
        (_, "account") => {
            json!({ "type": "string", "description": "the account, or - for the only one", "minLength": 1 })
        }
        _ => json!({ "type": "string", "minLength": 1 }),
    }
}

/// Returns the fields of a type as the parameters of a query.
fn parameters<T: JsonSchema>() -> Vec<Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    properties
        .into_iter()
        .map(|(name, mut schema)| {
            let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let mut parameter = json!({ "name": name, "in": "query", "schema": without_null(schema) });
            if let Some(description) = description {
                parameter["description"] = description;
            }
            parameter
        })
        .collect()
}

/// A query has no null: what is not there is not there.
fn without_null(mut schema: Value) -> Value {
    if let Some(types) = schema["type"].as_array().cloned() {
        let kept: Vec<_> = types.into_iter().filter(|kind| kind != "null").collect();
        schema["type"] = if let [only] = &kept[..] { only.clone() } else { kept.into() };
    }
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("default");
    }
    schema
}

//! Our walk and the parser's own crate agree on what templates of plain values say.

use handlebars::{Handlebars, Template, no_escape};
use serde_json::json;

use crate::partials::Partials;
use crate::read::read;
use crate::render::{Walk, render};
use crate::value::Value;

#[test]
fn plain_templates_come_out_as_handlebars_makes_them() {
    let data = json!({
        "name": "Ada", "zero": 0, "one": 1, "half": 0.5, "yes": true, "no": false, "none": null, "empty": "",
        "list": [1, 2, 3], "nested": [{"n": "a", "in": [1, 2]}, {"n": "b", "in": []}],
        "map": {"k": "v", "l": {"m": "deep"}}, "nothing": [],
    });
    let mut handlebars = Handlebars::new();
    handlebars.register_escape_fn(no_escape);
    for content in [
        "plain",
        "{{name}} {{one}} {{half}} {{yes}} {{none}} {{missing}} {{map.l.m}} {{map/k}} {{list.[1]}}",
        "{{this.name}} {{./name}} {{@root.name}}",
        "{{#if zero}}a{{else}}b{{/if}}{{#if zero includeZero=true}}a{{/if}}{{#if empty}}c{{/if}}{{#if nothing}}d{{/if}}",
        "{{#unless no}}a{{else}}b{{/unless}}{{#unless list}}c{{else}}d{{/unless}}",
        "{{#if no}}a{{else if one}}b{{else}}c{{/if}} {{#if no}}a{{else if zero}}b{{else}}c{{/if}}",
        "{{#each list}}{{@index}}{{this}}{{@first}}{{@last}} {{/each}}",
        "{{#each nested}}{{n}}{{#each in}}{{this}}{{../n}}{{@../index}}{{../../name}}{{@root.name}}{{/each}};{{/each}}",
        "{{#each nested as |item at|}}{{at}}{{item.n}}{{#each item.in as |x|}}{{x}}{{item.n}}{{/each}}{{/each}}",
        "{{#each map}}{{@key}} {{/each}}{{#each nothing}}x{{else}}y{{/each}}{{#each missing}}x{{else}}y{{/each}}",
        "{{#with map}}{{k}}{{l.m}}{{../name}}{{#with l}}{{m}}{{../k}}{{../../name}}{{/with}}{{/with}}",
        "{{#with missing}}a{{else}}b{{/with}}{{#with map as |it|}}{{it.k}}{{/with}}",
        "{{#each nested}}{{#if in}}{{#with ../map}}{{@index}}{{k}}{{/with}}{{/if}}{{/each}}",
        "{{lookup map \"k\"}}{{lookup list 2}}{{lookup (lookup map \"l\") \"m\"}}{{lookup map name}}",
        "{{eq name \"Ada\"}} {{ne one 1}} {{gt 2 one}} {{gte one 1}} {{lt half one}} {{lte 2 1}} {{eq one \"1\"}}",
        "{{and one yes}} {{or no zero}} {{not empty}} {{len list}} {{len name}} {{len map}} {{eq none missing}}",
        "{{#if (and one (or no (eq name 'Ada')))}}a{{/if}}{{#eq one 1}}b{{else}}c{{/eq}}{{#not yes}}d{{else}}e{{/not}}",
        "  {{#if yes}}\n  a\n  {{/if}}\nb\n{{! c }}\nd {{~name~}} e\n{{#each list}}\n- {{this}}\n{{/each}}\n",
        "{{#if yes}}\na\n{{else}}\nb\n{{/if}}\n\n{{#each list}}{{this}}{{#unless @last}}, {{/unless}}{{/each}}",
        r"\{{name}} \\{{name}} {name} } {{!-- }} --}}x",
    ] {
        let theirs = handlebars.render_template(content, &data).unwrap();
        let template = Template::compile(content).unwrap();
        let nodes = read(&template, &Partials::default()).unwrap();
        let root = Value::Json { json: &data, about: "data" };
        let ours = render(&nodes, root, "[token]", Walk::Taken).unwrap();
        assert_eq!(ours, theirs, "{content}");
    }
}

//! What is no template is refused, with the place where it is none.

use crate::compile::compile;

#[track_caller]
fn check(content: &str, expected: &str) {
    match compile(content) {
        Ok(_) => panic!("{content} is a template"),
        Err(error) => assert!(error.to_string().contains(expected), "{content}: {error}"),
    }
}

#[test]
fn t16_triple_braces_and_their_like_are_refused() {
    check("{{{issue.title}}}", "line 1, column 1: found a value that is not to be cleaned");
    check("ok\n {{&issue.title}}", "line 2, column 2: found a value that is not to be cleaned");
    check("{{~{issue.title}~}}", "not to be cleaned");
    check("{{{{raw}}}}x{{{{/raw}}}}", "not to be cleaned");
}

#[test]
fn helpers_that_do_not_exist_are_refused_also_where_nobody_goes() {
    check("{{log issue.title}}", "there is no helper log");
    check("{{log}}", "the helper log needs a value");
    check("{{#if nothing}}{{foo 1}}{{/if}}", "there is no helper foo");
    check("{{#if issue}}{{else}}{{#foo}}{{/foo}}{{/if}}", "there is no block foo");
    check("{{#if (foo 1)}}{{/if}}", "there is no helper foo");
    check("{{(lookup issue \"x\") 1}}", "line 1");
    check("{{helperMissing 1}}", "there is no helper");
    check("{{json}}", "needs a value");
    check("{{len (json issue)}}", "json stands alone");
    check("{{if issue}}", "if is a block");
}

#[test]
fn helpers_take_what_they_take() {
    check("{{eq 1}}", "eq takes 2 values, got 1");
    check("{{#if 1 2}}{{/if}}", "if takes 1 values, got 2");
    check("{{#each siblings x=1}}{{/each}}", "each takes no x=");
    check("{{len [1]}}", "cannot be written out");
    check("{{@foo}}", "there is no @foo");
    check("{{#if issue as |x|}}{{/if}}", "only each and with");
}

#[test]
fn partials_are_those_that_are_shipped() {
    check("{{> nothing}}", "there is no partial nothing");
    check("{{#if nothing}}{{> nothing}}{{/if}}", "there is no partial nothing");
    check("{{> (lookup issue \"title\")}}", "cannot be computed");
    check("{{> comments issue}}", "takes no values");
    check("{{> comments x=1}}", "takes no values");
    check("{{#> comments}}x{{/comments}}", "takes no block");
    check("{{> @partial-block}}", "there is no partial");
    check("{{#*inline \"comments\"}}x{{/inline}}", "inline partial");
    check("{{* decorate}}", "decorator");
}

#[test]
fn loops_within_loops_have_a_limit_partials_counted() {
    check(
        "{{#each siblings}}{{#each ../siblings}}{{#each ../../siblings}}{{/each}}{{/each}}{{/each}}",
        "each stands within each other more than 2 deep",
    );
    check("{{#each siblings}}{{#each ../siblings}}{{> comments}}{{/each}}{{/each}}", "the partial comments");
    assert!(compile("{{#each siblings}}{{> comments}}{{/each}}").is_ok());
}

#[test]
fn what_does_not_parse_is_refused_with_its_place() {
    let error = compile("one\n{{#if issue}}two").unwrap_err();
    assert_eq!(error.line, Some(2), "{error}");
    check("{{#if issue}}{{/each}}", "line 1");
    check("{{/if}}", "line 1");
    check("{{else}}", "line 1");
    check("{{}}", "line 1");
    check("{{issue", "a tag that does not end");
}

#[test]
fn what_is_from_outside_may_not_stand_in_a_code_block() {
    for inside in
        ["{{issue.title}}", "{{issue.description}}", "{{json issue}}", "{{issue.signalPayload.anything}}"]
    {
        check(&format!("x\n```sh\necho '{inside}'\n```\n"), "line 3, column 7: something from outside");
        check(&format!("- a\n  ~~~\n  {inside}\n  ~~~\n"), "line 3, column 3: something from outside");
        check(&format!("a\r```sh\r{inside}\r```\r"), "something from outside");
    }
    check("```{{issue.title}}\n```\n", "something from outside");
    check("```\n{{#if (eq issue.type \"x\")}}\n{{issue.title}}\n{{/if}}\n```\n", "line 3, column 1");
    check("```\n{{#each issue.signalPayload.list}}{{this}}{{/each}}\n```\n", "something from outside");
    check("```\n{{> comments}}\n```\n", "line 2");
    check("{{#if parent}}\n```sh\n{{/if}}\n", "a code block begins or ends in one branch");
}

/// In all of these somebody's text would stand in a code block, or out of its fence, if the
/// rules of Markdown were followed to the letter.
#[test]
fn code_blocks_of_other_forms_are_refused_with_their_place() {
    const FORM: &str = "expected a line that begins or ends a code block to have at most three spaces";
    const END: &str = "expected nothing but spaces after the marks that end a code block";
    for (content, place, expected) in [
        ("a\n1. ```sh\n   {{issue.title}}\n   ```\n", "line 2, column 4", FORM),
        ("1) ~~~\n{{issue.title}}\n", "line 1, column 4", FORM),
        ("a {{issue.id}}\n\nb\n10) ```sh\n", "line 4, column 5", FORM),
        ("\u{feff}```sh\n{{issue.title}}\n```\n", "line 1, column 2", FORM),
        ("a\n```sh\nx\n    ```\n{{issue.title}}\n", "line 4, column 5", FORM),
        ("```sh\nx\n\t```\n{{issue.title}}\n", "line 3, column 2", FORM),
        ("{{#if issue}}\n```sh\nx\n- ```\n{{/if}}\n", "line 4, column 3", FORM),
        ("```sh\nx {{issue.id}}\n> ```\n{{issue.title}}\n", "line 3, column 3", FORM),
        ("```sh\nx\n```\u{a0}\n{{issue.title}}\n", "line 3, column 1", END),
        ("```sh\nx\n```\u{2003}\n{{issue.title}}\n", "line 3, column 1", END),
        ("```sh\nx\n```sh\n{{issue.title}}\n", "line 3, column 1", END),
        ("```sh\nx\n```\u{b}\n{{issue.title}}\n", "line 3, column 4", "a line break of a rare kind"),
        ("```sh\nx\n```\u{c}\n{{issue.title}}\n", "line 3, column 4", "a line break of a rare kind"),
        ("- a\n  ```sh\nx\n  ```\n{{issue.title}}\n", "line 3, column 1", "at least as far in"),
        ("<a>\n```\n\nx\n```\n{{issue.title}}\n", "line 2, column 1", "expected a blank line"),
        ("x\n1. ```{{issue.title}}", "line 2, column 7", FORM),
        ("x\n1. ```sh", "line", FORM),
    ] {
        check(content, place);
        check(content, expected);
    }
}

#[test]
fn html_that_a_blank_line_does_not_end_is_refused() {
    for tag in ["<!--", "<pre>", "<SCRIPT>", "<style>", "<textarea>", "<?x", "<!X>", "<![CDATA["] {
        check(&format!("a\n\n  {tag}\n{{{{issue.description}}}}\n"), "line 3, column 3: expected no line");
        check(&format!("a\n- {tag}{{{{issue.description}}}}\n"), "line 2");
        let shown = format!("```html\n{tag}\n```\n{{{{issue.description}}}}\n");
        assert!(compile(&shown).is_ok(), "{tag}");
    }
    assert!(compile("<issue>\n{{issue.title}}\n{{issue.description}}\n</issue>\n<preview/>\n").is_ok());
}

#[test]
fn what_is_ours_may_stand_in_a_code_block() {
    let content = "```sh\n{{issue.id}} {{issue.number}} {{serverUrl}} {{token}} {{dispatchId}} {{meta.versionId}}\n\
                   {{#if issue.projectId}}{{issue.projectId}}{{/if}} {{goal.targetValue}} {{goal.currentValue}} {{#each children}}{{number}} {{/each}}\n```\n\
                   {{issue.title}}\n{{issue.description}}";
    assert!(compile(content).is_ok());
}

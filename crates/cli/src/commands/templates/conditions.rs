//! What a template asks of a task, as people write it: `type=signal`, `labels=bug,web`.

use extraboard_api::template::Conditions;

use crate::error::{CliError, Kind};

/// What takes all conditions away.
const NONE: &str = "none";

const NAMES: &str = "type, signalSource, labels, projectId, hasFailedSessions, hypothesisConfidence or door";

/// Reads conditions; `none` is none at all.
pub(super) fn read(words: &[String]) -> Result<Conditions, CliError> {
    let mut conditions = Conditions::default();
    if words == [NONE] {
        return Ok(conditions);
    }
    for word in words {
        set(&mut conditions, word).map_err(|problem| CliError::new(Kind::Usage, problem))?;
    }
    Ok(conditions)
}

fn set(conditions: &mut Conditions, word: &str) -> Result<(), String> {
    let (name, value) = word
        .split_once('=')
        .ok_or_else(|| format!("--when {word}: expected NAME=VALUE, such as type=signal"))?;
    let text = || Some(value.to_owned());
    match name {
        "type" => conditions.kind = text(),
        "signalSource" => conditions.signal_source = text(),
        "labels" => conditions.labels = value.split(',').map(str::to_owned).collect(),
        "projectId" => conditions.project_id = text(),
        "door" => conditions.door = text(),
        "hasFailedSessions" => {
            let yes = value.parse().map_err(|_| format!("--when {word}: expected true or false"))?;
            conditions.has_failed_sessions = Some(yes);
        }
        "hypothesisConfidence" => {
            let least = value.parse().map_err(|_| format!("--when {word}: expected a number from 0 to 1"))?;
            conditions.hypothesis_confidence = Some(least);
        }
        _ => return Err(format!("--when {word}: expected {NAMES}")),
    }
    Ok(())
}

/// Returns conditions in short.
pub(super) fn shown(conditions: &Conditions) -> String {
    let labels = Some(conditions.labels.join(",")).filter(|labels| !labels.is_empty());
    let parts = [
        ("type", conditions.kind.clone()),
        ("signalSource", conditions.signal_source.clone()),
        ("labels", labels),
        ("projectId", conditions.project_id.clone()),
        ("hasFailedSessions", conditions.has_failed_sessions.map(|yes| yes.to_string())),
        ("hypothesisConfidence", conditions.hypothesis_confidence.map(|least| least.to_string())),
        ("door", conditions.door.clone()),
    ];
    let said: Vec<String> =
        parts.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
    if said.is_empty() { "any".to_owned() } else { said.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_shown_reads_back() {
        let all = "type=signal signalSource=sentry labels=bug,web projectId=apollo hasFailedSessions=true \
                   hypothesisConfidence=0.5 door=run";
        let conditions = read(&words(all)).unwrap();
        assert_eq!(conditions.labels, ["bug", "web"]);
        assert_eq!(words(&shown(&conditions)), words(all));
        assert_eq!(read(&words("none")).unwrap(), Conditions::default());
        assert_eq!(shown(&Conditions::default()), "any");
    }

    #[test]
    fn nonsense_is_told() {
        let check = |word: &str, expected: &str| {
            let problem = read(&words(word)).unwrap_err();
            assert!(problem.message().contains(expected), "{}", problem.message());
        };
        check("type", "expected NAME=VALUE");
        check("kind=task", "expected type, signalSource");
        check("hasFailedSessions=1", "expected true or false");
        check("hypothesisConfidence=much", "expected a number");
    }
}

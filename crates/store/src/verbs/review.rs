//! Reviews of prompts, and the task to make a better one.
//!
//! Whoever reviews a version holds its row: the moving average takes every review in, and
//! of many that find it bad at once one asks for a better version. It is asked for once.

use extraboard_core::comment::AuthorType;
use extraboard_core::event::EventType;
use extraboard_core::id::{DispatchId, LabelId, ReviewId, TaskId, TaskRef, VersionId};
use extraboard_core::label::Label;
use extraboard_core::priority::Level;
use extraboard_core::prompt::{IMPROVEMENT_LABEL, excerpt};
use extraboard_core::review::{Marks, Review, Score};
use extraboard_core::task::Task;
use extraboard_core::template::{Template, Version};
use serde_json::json;

use super::task_create::{TaskCreate, TaskDraft};
use super::{Ctx, label};
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::label::LabelRef;
use crate::rows::project::{self, ProjectRef};
use crate::rows::task;
use crate::rows::template::{self, TemplateRef, VersionRef};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::{Row, params};

/// How many words of feedback stand in the task to make a better version.
const FEEDBACK_SHOWN: i64 = 20;
/// The labels of that task, with their colors.
const LABELS: [(&str, &str); 2] = [(IMPROVEMENT_LABEL, "#f59e0b"), ("meta", "#6b7280")];

/// Says what somebody thinks of a prompt.
#[derive(Clone, Debug)]
pub struct ReviewCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id.
    pub id: ReviewId,
    /// The version the prompt was made by.
    pub version: VersionId,
    /// The task it was made for.
    pub task: TaskRef,
    /// The dispatch it was sent with, if that is known: it reviews once.
    pub dispatch: Option<DispatchId>,
    /// The marks.
    pub marks: Marks,
    /// What would make it better.
    pub feedback: Option<String>,
    /// Who says so; as the caller is if it is not said.
    pub author_type: Option<AuthorType>,
    /// Who that is; the caller if it is not said.
    pub author: Option<String>,
    /// The ids of the task to make a better version, and of its labels, if they are needed.
    pub improvement: (TaskId, [LabelId; 2]),
}

/// A review, as it was taken in.
#[derive(Clone, Debug)]
pub struct ReviewTaken {
    /// The review.
    pub review: Review,
    /// Whether the same dispatch had said the same before.
    pub is_repeated: bool,
}

impl Verb for ReviewCreate {
    type Output = ReviewTaken;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ReviewTaken, Error> {
        let task = task::get(tx, self.task).await?;
        let (template, version) = lock_version(tx, self.version).await?;
        if let Some(before) = self.before(tx).await? {
            return self.repeated(before);
        }
        let own = if self.ctx.caller.is_person() { AuthorType::Human } else { AuthorType::Agent };
        let review = Review {
            id: self.id,
            version: self.version,
            task: task.id,
            marks: self.marks,
            feedback: self.feedback.clone(),
            author_type: self.author_type.unwrap_or(own),
            author: self.author.clone().unwrap_or_else(|| self.ctx.caller.to_string()),
            created_at: self.ctx.now,
        };
        self.insert(tx, &review, &task).await?;
        let reviews = version.reviews.with(&self.marks);
        let asked = if reviews.ask_for_better() && version.improvement.is_none() {
            Some(self.ask_for_better(tx, &template, &Version { reviews, ..version.clone() }).await?)
        } else {
            version.improvement
        };
        let after = Version { reviews, improvement: asked, ..version };
        write(tx, &after).await?;
        self.tell(tx, &task, &template, &after).await?;
        Ok(ReviewTaken { review, is_repeated: false })
    }
}

const LOCK: &str = "SELECT template FROM template_version WHERE id = $1 FOR UPDATE";

/// Locks a version, then reads it: as whoever held it left it.
async fn lock_version<T: Tx>(tx: &mut T, id: VersionId) -> Result<(Template, Version), Error> {
    let missing = || Error::NoVersion(VersionRef::Id(id));
    first(tx, LOCK.into(), params![id.to_string()]).await?.ok_or_else(missing)?;
    let version = template::find_version(tx, id).await?.ok_or_else(missing)?;
    Ok((template::get(tx, &TemplateRef::Id(version.template)).await?, version))
}

macro_rules! review_columns {
    () => {
        "r.id, r.version, t.id, r.clarity, r.completeness, r.relevance, r.feedback, r.author_type, r.author, \
         r.created_at"
    };
}

fn from_row(mut row: Row) -> Result<Review, Error> {
    Ok(Review {
        id: row.parse()?,
        version: row.parse()?,
        task: row.parse()?,
        marks: Marks { clarity: row.int()?, completeness: row.int()?, relevance: row.int()? },
        feedback: row.opt_text()?,
        author_type: row.parse()?,
        author: row.text()?,
        created_at: extraboard_core::clock::Timestamp::from_micros(row.int()?),
    })
}

const OF_DISPATCH: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM prompt_review r JOIN task t ON t.number = r.task WHERE r.dispatch = $1"
);
const INSERT: &str = "INSERT INTO prompt_review (id, version, task, dispatch, clarity, completeness, \
       relevance, feedback, author_type, author, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const FEEDBACK: &str = "SELECT feedback \
     FROM prompt_review \
     WHERE version = $1 AND feedback IS NOT NULL \
     ORDER BY created_at DESC, id DESC \
     LIMIT $2";

impl ReviewCreate {
    /// Returns what the same dispatch said before.
    async fn before<T: Tx>(&self, tx: &mut T) -> Result<Option<Review>, Error> {
        let Some(dispatch) = self.dispatch else { return Ok(None) };
        let row = first(tx, OF_DISPATCH.into(), params![dispatch.to_string()]).await?;
        row.map(from_row).transpose()
    }

    fn repeated(&self, before: Review) -> Result<ReviewTaken, Error> {
        let same = before.marks == self.marks && before.feedback == self.feedback;
        if same && before.version == self.version {
            return Ok(ReviewTaken { review: before, is_repeated: true });
        }
        Err(Error::Conflict("this dispatch has reviewed its prompt already".to_owned()))
    }

    async fn insert<T: Tx>(&self, tx: &mut T, review: &Review, task: &Task) -> Result<(), Error> {
        let params = params![
            review.id.to_string(),
            review.version.to_string(),
            task.number.0,
            self.dispatch.map(|dispatch| dispatch.to_string()),
            review.marks.clarity,
            review.marks.completeness,
            review.marks.relevance,
            &review.feedback,
            review.author_type.as_str(),
            review.author.as_str(),
            review.created_at.as_micros(),
        ];
        expect_rows("reviewing", 1, tx.execute(INSERT.into(), params).await?)
    }

    /// Queues the task to make a better version.
    async fn ask_for_better<T: Tx>(
        &self,
        tx: &mut T,
        template: &Template,
        version: &Version,
    ) -> Result<TaskId, Error> {
        let ctx = Ctx { now: self.ctx.now, caller: extraboard_core::caller::Caller::Desk };
        let mut labels: Vec<LabelRef> = Vec::new();
        for ((name, color), id) in LABELS.into_iter().zip(self.improvement.1) {
            let wanted = Label { id, name: name.to_owned(), color: color.to_owned(), created_at: ctx.now };
            labels.push(label::ensure(tx, &ctx, wanted).await?);
        }
        // A template may outlive its project.
        let project = match template.project {
            Some(id) => project::find(tx, &ProjectRef::Id(id)).await?,
            None => None,
        };
        let draft = TaskDraft {
            description: Some(self.describe(tx, template, version).await?),
            priority: Level::Medium.priority(),
            labels,
            project: project.map(|project| ProjectRef::Id(project.id)),
            ..TaskDraft::new(format!("Improve prompt template: {}", template.slug))
        };
        let create = TaskCreate { ctx, id: self.improvement.0, draft, key: None };
        Ok(Box::pin(create.run(tx)).await?.id)
    }

    /// Says what is known about a version that is not good enough.
    async fn describe<T: Tx>(
        &self,
        tx: &mut T,
        template: &Template,
        version: &Version,
    ) -> Result<String, Error> {
        let reviews = &version.reviews;
        let mean = |sum| reviews.mean_of(sum).map_or(0.0, Score::as_f64);
        let mut text = format!(
            "Version {} of the prompt template `{}` ({}) should be better.\n\n\
             - template: {}\n- version: {}\n- reviews: {}\n- moving average: {:.2}\n\
             - clarity: {:.2}\n- completeness: {:.2}\n- relevance: {:.2}\n",
            version.number,
            template.slug,
            template.name,
            template.id,
            version.id,
            reviews.count,
            reviews.score.map_or(0.0, Score::as_f64),
            mean(reviews.clarity),
            mean(reviews.completeness),
            mean(reviews.relevance),
        );
        let rows = tx.query(FEEDBACK.into(), params![version.id.to_string(), FEEDBACK_SHOWN]).await?;
        for (nr, mut row) in rows.into_iter().enumerate() {
            if nr == 0 {
                text.push_str("\nWhat reviewers said, the newest first:\n");
            }
            let said = excerpt(row.text()?);
            text = format!("{text}\n- {}\n", said.replace('\n', "\n  "));
        }
        Ok(text)
    }

    async fn tell<T: Tx>(
        &self,
        tx: &mut T,
        task: &Task,
        template: &Template,
        version: &Version,
    ) -> Result<(), Error> {
        let data = json!({
            "review": self.id.to_string(),
            "version": version.id.to_string(),
            "slug": template.slug,
            "score": version.reviews.score.map(Score::as_f64),
            "improvement": version.improvement.map(|task| task.to_string()),
        });
        let event = NewEvent::new(EventType::ReviewCreated, &self.ctx, task.number).data(data);
        event::insert_all(tx, vec![event]).await
    }
}

const UPDATE: &str = "UPDATE template_version \
     SET review_count = $2, score_micros = $3, clarity_sum = $4, completeness_sum = $5, \
       relevance_sum = $6, improvement = $7 \
     WHERE id = $1";

async fn write<T: Tx>(tx: &mut T, version: &Version) -> Result<(), Error> {
    let reviews = &version.reviews;
    let params = params![
        version.id.to_string(),
        reviews.count,
        reviews.score.map(|score| score.0),
        reviews.clarity,
        reviews.completeness,
        reviews.relevance,
        version.improvement.map(|task| task.to_string()),
    ];
    expect_rows("summing reviews up", 1, tx.execute(UPDATE.into(), params).await?)
}

/// Lists the reviews of a template's versions, the newest first.
#[derive(Clone, Debug)]
pub struct ReviewList {
    /// Which template.
    pub template: TemplateRef,
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const PAGE: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM prompt_review r JOIN task t ON t.number = r.task \
     JOIN template_version v ON v.id = r.version \
     WHERE v.template = $1 ORDER BY r.created_at DESC, r.id DESC LIMIT $2 OFFSET $3"
);
const TOTAL: &str =
    "SELECT CAST(COALESCE(SUM(review_count), 0) AS BIGINT) FROM template_version WHERE template = $1";

impl Verb for ReviewList {
    type Output = (Vec<Review>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Review>, i64), Error> {
        let id = template::get(tx, &self.template).await?.id.to_string();
        let rows = tx.query(PAGE.into(), params![id.as_str(), self.limit, self.offset]).await?;
        let page = rows.into_iter().map(from_row).collect::<Result<_, _>>()?;
        let row = first(tx, TOTAL.into(), params![id]).await?;
        let total = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        Ok((page, total))
    }
}

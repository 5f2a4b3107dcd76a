//! A client that creates, claims and finishes tasks, repeats what was not answered, and logs what was.

use std::net::SocketAddr;
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::{Value, json};

use super::ledger::{Entry, Ledger};
use crate::harness::{Dice, Lost, Reply, Request, get, post};

const ANSWER_LIMIT: Duration = Duration::from_mins(1);

/// A dispatch in a client's hands.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) number: i64,
    pub(crate) fence: i64,
    pub(crate) dispatch: String,
    token: String,
}

/// One call, with everything needed to make it again.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Create { title: String },
    Claim { key: String },
    Heartbeat { held: Held },
    Release { held: Held },
    Complete { held: Held, result: Value },
}

#[derive(Debug)]
pub(crate) struct Client<'a> {
    pub(crate) name: String,
    api: SocketAddr,
    ledger: &'a Ledger,
    dice: Dice,
    call_count: u64,
}

impl<'a> Client<'a> {
    pub(crate) fn new(number: usize, api: SocketAddr, ledger: &'a Ledger, dice: &Dice) -> Self {
        Self { name: format!("client-{number}"), api, ledger, dice: dice.of_player(number), call_count: 0 }
    }

    /// Works until a call is not answered and may not be repeated; returns that call.
    pub(crate) fn work(mut self) -> (Self, Op) {
        let mut op = self.choose();
        loop {
            match self.perform(&op) {
                Ok(next) => op = next.unwrap_or_else(|| self.choose()),
                Err(Lost) => return (self, op),
            }
        }
    }

    /// Repeats a call that was not answered, then works until nothing is in line.
    pub(crate) fn drain(mut self, unanswered: Op) {
        let mut op = unanswered;
        loop {
            op = match self.perform(&op).unwrap() {
                // A released task would come back for ever.
                Some(Op::Release { held }) => self.complete(held),
                Some(next) => next,
                None if matches!(op, Op::Claim { .. }) => return,
                None => self.claim(),
            };
        }
    }

    fn choose(&mut self) -> Op {
        if self.dice.roll(2) == 0 {
            self.call_count += 1;
            return Op::Create { title: format!("{}-{}", self.name, self.call_count) };
        }
        self.claim()
    }

    fn claim(&mut self) -> Op {
        self.call_count += 1;
        Op::Claim { key: format!("{}-{}", self.name, self.call_count) }
    }

    fn complete(&mut self, held: Held) -> Op {
        self.call_count += 1;
        Op::Complete { held, result: json!({"by": self.name, "call": self.call_count}) }
    }

    /// Makes a call, logs its answer, and returns what follows from it.
    fn perform(&mut self, op: &Op) -> Result<Option<Op>, Lost> {
        match op {
            Op::Create { title } => {
                let body = json!({"title": title, "type": "task", "status": "todo", "priority": 3});
                let reply = self.ask(&post("/api/issues", &body).key(title))?.expect(201);
                let number = reply["data"]["number"].as_i64().unwrap();
                self.ledger.log(Entry::Created { title: title.clone(), number });
                Ok(None)
            }
            Op::Claim { key } => {
                let reply = self.ask(&get("/api/dispatch/next").key(key))?;
                Ok(self.take(&reply).map(|held| self.choose_report(held)))
            }
            Op::Heartbeat { held } => {
                let reply = self.report(held, "heartbeat", &json!({"progress": {"half": true}}))?;
                assert_eq!(reply.expect(200)["order"], "continue");
                self.ledger.answered();
                Ok(Some(self.complete(held.clone())))
            }
            Op::Release { held } => {
                self.ledger.log(Entry::ReleaseSent { number: held.number, fence: held.fence });
                self.report(held, "release", &Value::Null)?.expect(200);
                Ok(None)
            }
            Op::Complete { held, result } => {
                self.report(held, "complete", &json!({"result": result}))?.expect(200);
                self.ledger.log(Entry::Completed { number: held.number, result: result.clone() });
                Ok(None)
            }
        }
    }

    fn take(&self, reply: &Reply) -> Option<Held> {
        if reply.status == 204 {
            self.ledger.answered();
            return None;
        }
        let next = reply.expect(200);
        let text = |field: &str| next["dispatch"][field].as_str().unwrap().to_owned();
        let held = Held {
            number: next["issue"]["number"].as_i64().unwrap(),
            fence: next["dispatch"]["fence"].as_i64().unwrap(),
            dispatch: text("id"),
            token: text("token"),
        };
        self.ledger.log(Entry::Claimed {
            number: held.number,
            fence: held.fence,
            dispatch: held.dispatch.clone(),
        });
        Some(held)
    }

    fn choose_report(&mut self, held: Held) -> Op {
        match self.dice.roll(10) {
            0 => Op::Release { held },
            1 => Op::Heartbeat { held },
            _ => self.complete(held),
        }
    }

    fn report(&mut self, held: &Held, verb: &str, body: &Value) -> Result<Reply, Lost> {
        let request = post(&format!("/api/dispatches/{}/{verb}", held.dispatch), body);
        // A holder is known by its token as well as by its name.
        if self.dice.roll(2) == 0 {
            self.ask_as_it_is(&request.token(&held.token))
        } else {
            self.ask(&request)
        }
    }

    fn ask(&self, request: &Request) -> Result<Reply, Lost> {
        self.ask_as_it_is(&request.clone().agent(&self.name))
    }

    /// Asks until there is an answer; "the database does not answer" is none.
    fn ask_as_it_is(&self, request: &Request) -> Result<Reply, Lost> {
        wait_until(ANSWER_LIMIT, "an answer", || match request.send(self.api) {
            _ if self.ledger.is_over() => Some(Err(Lost)),
            Ok(reply) if reply.status != 503 => Some(Ok(reply)),
            Ok(_) | Err(Lost) if self.ledger.may_repeat() => None,
            Ok(_) | Err(Lost) => Some(Err(Lost)),
        })
    }
}

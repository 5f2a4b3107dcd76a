//! The testkit against real PostgreSQL processes.

mod database;
mod postgres;
mod relay;

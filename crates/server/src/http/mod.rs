//! The operations, one file each.

pub(crate) mod complete;
pub(crate) mod fail;
pub(crate) mod heartbeat;
pub(crate) mod issue_create;
pub(crate) mod issue_delete;
pub(crate) mod issue_get;
pub(crate) mod issue_list;
pub(crate) mod issue_move;
pub(crate) mod issue_patch;
pub(crate) mod next;
pub(crate) mod queue;
pub(crate) mod release;
pub(crate) mod status;

//! Lists that are read to their end.

use extraboard_api::client::ClientError;
use extraboard_api::envelope::{Many, PageQuery};

/// The largest page a desk gives.
const PAGE: i64 = 200;
/// The furthest a desk lets one leave out.
const OFFSET_MAX: i64 = 10_000;

/// Reads page after page, as far as a desk lets one go.
pub(crate) async fn all<T>(
    read: impl AsyncFn(&PageQuery) -> Result<Many<T>, ClientError>,
) -> Result<Vec<T>, ClientError> {
    let mut found = Vec::new();
    let mut offset = 0;
    while offset <= OFFSET_MAX {
        let page = read(&PageQuery { limit: Some(PAGE), offset: Some(offset) }).await?;
        let is_last = page.data.is_empty() || offset + PAGE >= page.total;
        found.extend(page.data);
        if is_last {
            break;
        }
        offset += PAGE;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(total: i64, expected: i64) {
        let found = all(async |page: &PageQuery| {
            let (limit, offset) = (page.limit.unwrap(), page.offset.unwrap());
            assert!(offset <= OFFSET_MAX);
            Ok(Many { data: (offset..total.min(offset + limit)).collect(), total })
        });
        assert_eq!(found.await.unwrap(), (0..expected).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn every_page_is_read_once() {
        check(0, 0).await;
        check(200, 200).await;
        check(201, 201).await;
        check(1_000_000, 10_200).await;
    }
}

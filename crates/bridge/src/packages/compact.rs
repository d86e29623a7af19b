//! Pieces of a stream that take no more memory than their bytes.

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_store::ByteStream;

/// The bytes of a piece; the last one may have fewer.
const PIECE: usize = 64 << 10;

/// The same bytes, copied into pieces of 64 KiB. A piece as it came from a connection keeps the whole buffer that it was read
/// into, which may be many times as large.
pub(super) fn compact(stream: ByteStream) -> ByteStream {
    let pieces = futures_util::stream::try_unfold((stream.fuse(), Bytes::new()), |(mut stream, mut rest)| async move {
        let mut piece = BytesMut::with_capacity(PIECE);
        loop {
            piece.extend_from_slice(&rest.split_to(rest.len().min(PIECE - piece.len())));
            if piece.len() == PIECE {
                break;
            }
            match stream.try_next().await? {
                Some(next) => rest = next,
                None if piece.is_empty() => return Ok(None),
                None => break,
            }
        }
        Ok(Some((piece.freeze(), (stream, rest))))
    });
    pieces.boxed()
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tofu_oci_store::StoreError;

    use super::*;

    #[tokio::test]
    async fn small_pieces_kept_the_large_buffers_that_they_were_read_into() {
        let buffer = Bytes::from((0..200_000_u32).map(|at| (at % 251) as u8).collect::<Vec<_>>());
        for size in [1000, PIECE, PIECE + 1, buffer.len()] {
            let (came, parts) = (buffer.clone(), buffer.len().div_ceil(size));
            let part = move |at: usize| Ok::<_, StoreError>(came.slice(at * size..came.len().min((at + 1) * size)));
            let pieces: Vec<Bytes> = compact(stream::iter((0..parts).map(part)).boxed()).try_collect().await.unwrap();
            assert_eq!(pieces.concat(), buffer, "{size}");
            assert!(pieces[..pieces.len() - 1].iter().all(|piece| piece.len() == PIECE), "{size}");
        }
        assert!(buffer.is_unique());
        assert!(compact(stream::empty().boxed()).try_next().await.unwrap().is_none());
    }
}

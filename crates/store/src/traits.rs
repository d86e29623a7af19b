//! The seams: a repository that is read, one that is written, and the bytes that are written to it.

use std::ops::Range;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use tofu_oci_types::{Descriptor, Digest, Place, Reference, RepositoryRef, Tag};

use crate::error::{StoreError, StoreItem};
use crate::manifest::MAX_MANIFEST;
use crate::range::part_of;
use crate::verify::{ByteStream, verified};

/// How content came to be in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// Its bytes were sent.
    Uploaded,
    /// It was there already; nothing was sent.
    Present,
    /// The registry linked it from another of its repositories; nothing was sent.
    Mounted,
}

/// Which lists of referrers are read, if a repository may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// One that takes the fewest requests. It may be out of date: what is not in it may be in another one.
    Nearest,
    /// All there are, together.
    All,
}

/// A manifest as a repository hands it out, with nothing checked.
#[derive(Clone, Debug)]
pub struct UnverifiedManifest {
    /// The media type that it is sent as, without parameters.
    pub media_type: Option<String>,
    /// The digest that the repository gives it, if it gives one.
    pub digest: Option<Digest>,
    pub bytes: Bytes,
}

/// A blob that is on its way before its descriptor is known.
pub struct BlobAhead {
    /// Its size in bytes, if the store says it.
    pub size: Option<u64>,
    /// Its bytes, unverified.
    pub stream: ByteStream,
}

/// Who sends a blob.
pub enum BlobSender {
    /// The store itself, these bytes. They end in an error unless size and digest are right.
    Store(ByteStream),
    /// Another host, to which the store sends its readers. The address from which anybody can get the blob over TLS for a short
    /// time, as the store gives it: it is as secret as the blob. `None` if the blob is not to be had without the store.
    OtherHost(Option<String>),
}

/// How a repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// It lies in memory or in a folder.
    Local,
    /// Over TLS, or not known yet.
    Tls,
    /// By HTTP without TLS.
    PlainHttp,
}

/// A repository that can be read.
#[async_trait]
pub trait ReadStore: Send + Sync {
    /// Where the repository lies.
    fn place(&self) -> Place;

    /// The repository's address, if it lies in a registry. Equal registries can mount from each other.
    fn repository(&self) -> Option<&RepositoryRef> {
        None
    }

    /// So many requests will soon be made at once. A registry gets connections for them meanwhile; nothing is asked, and
    /// nothing is waited for.
    fn prepare(&self, requests: usize) {
        let _ = requests;
    }

    /// How it is reached. What was learned from earlier requests counts.
    async fn transport(&self) -> Transport {
        Transport::Local
    }

    /// The descriptor of the manifest that a tag or digest names: media type, digest and size, and the artifact type
    /// and platform if the store knows them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the repository has no such manifest.
    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError>;

    /// The manifest that a tag or digest names, and its descriptor as [`ReadStore::resolve`] gives it. The bytes are those
    /// of the descriptor's digest. At most 4 MiB.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the repository has no such manifest.
    async fn manifest(&self, reference: &Reference) -> Result<(Descriptor, Bytes), StoreError> {
        let descriptor = self.resolve(reference).await?;
        if descriptor.size > MAX_MANIFEST {
            return Err(too_large(self.place(), &descriptor, MAX_MANIFEST));
        }
        let bytes = in_one_piece(self.fetch(&descriptor).await?).await?;
        Ok((descriptor, bytes))
    }

    /// Every tag, in the store's own order. A text that breaks the tag grammar is omitted.
    ///
    /// # Errors
    /// [`StoreError::UnknownRepository`] if the repository does not exist; an empty list if it has no tags.
    async fn tags(&self) -> Result<Vec<Tag>, StoreError>;

    /// Every tag as the store has it, in its own order; a folder may also hold texts that break the tag grammar.
    ///
    /// # Errors
    /// As [`ReadStore::tags`].
    async fn tag_texts(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.tags().await?.iter().map(ToString::to_string).collect())
    }

    /// The manifest that a tag or digest names as a client that checks nothing gets it: for looking at what is wrong
    /// with it, never for believing it.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if it has more than `limit` bytes.
    async fn manifest_unverified(&self, reference: &Reference, limit: u64) -> Result<UnverifiedManifest, StoreError> {
        let descriptor = self.resolve(reference).await?;
        let mut stream = self.fetch_unverified(&descriptor).await?;
        let mut bytes = BytesMut::new();
        while let Some(piece) = stream.try_next().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > limit {
                return Err(StoreError::TooLarge { place: self.place(), what: format!("manifest {reference}"), limit });
            }
        }
        let (media_type, digest) = (Some(descriptor.media_type), Some(descriptor.digest));
        Ok(UnverifiedManifest { media_type, digest, bytes: bytes.freeze() })
    }

    /// Whether the content is there. The descriptor's media type says whether it is a manifest or a blob.
    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError>;

    /// The content's bytes as the store has them. Believe nothing of it before size and digest have been checked:
    /// [`ReadStore::fetch`] does that.
    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError>;

    /// The content's bytes; the stream ends in an error unless size and digest are those of the descriptor.
    async fn fetch(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let stream = self.fetch_unverified(descriptor).await?;
        verified(self.place(), stream, descriptor)
    }

    /// A blob's bytes as the store has them, if only its digest is known for certain, and perhaps a `claimed` size. `None` if
    /// that would not be faster than [`ReadStore::fetch`]: nothing is far away, or enough is on its way already.
    ///
    /// Believe nothing of it before [`verified`] has compared it with a descriptor.
    async fn blob_ahead(&self, digest: &Digest, claimed: Option<u64>) -> Result<Option<BlobAhead>, StoreError> {
        let _ = (digest, claimed);
        Ok(None)
    }

    /// A range of a blob's bytes, which lies within it, as the store has them: a digest says nothing about a part of what it
    /// names. The stream may end early without an error.
    async fn fetch_range_unverified(&self, blob: &Descriptor, range: Range<u64>) -> Result<ByteStream, StoreError> {
        Ok(part_of(self.fetch_unverified(blob).await?, range))
    }

    /// A blob from the store itself. No other host is asked, even after a break.
    async fn blob_sender(&self, blob: &Descriptor) -> Result<BlobSender, StoreError> {
        self.fetch(blob).await.map(BlobSender::Store)
    }

    /// Descriptors of the manifests whose `subject` is this digest, of every artifact type.
    ///
    /// A descriptor here is a claim of the store: open the manifest and check its `subject`.
    ///
    /// Spec: OCI distribution-spec 1.1.1, "Listing Referrers".
    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError>;

    /// The same from chosen lists: a registry may have the API, and beside it a tag that stood in for the API once.
    async fn referrers_in(&self, subject: &Digest, lists: Lists) -> Result<Vec<Descriptor>, StoreError> {
        let _ = lists;
        self.referrers(subject).await
    }
}

/// Bytes that can be read again from the start. [`Bytes`] is one, and so are [`FileBody`](crate::FileBody) and
/// [`StoredBody`](crate::StoredBody).
#[async_trait]
pub trait Body: Send + Sync {
    /// The bytes from the first one on. The stream may be polled again after its end; then it gives `None` again.
    async fn open(&self) -> Result<ByteStream, StoreError>;

    /// All the bytes if they lie in memory: a store can then check them before it sends the first one.
    fn in_memory(&self) -> Option<&Bytes> {
        None
    }
}

/// A repository that can be written.
#[async_trait]
pub trait Store: ReadStore {
    /// Puts content in, unless it is there. Manifests (by the descriptor's media type) are stored by digest, and one
    /// that has a `subject` is listed among its referrers afterwards.
    ///
    /// # Errors
    /// If the content does not have the descriptor's size and digest; nothing is stored then.
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError>;

    /// Makes a tag point at a manifest that has been pushed. Readers see the old or the new one, never neither.
    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError>;

    /// Makes a tag point at a manifest that has been pushed, if the tag still points at `before` (`None`: if it still does
    /// not exist). False if another program has written it since: then nothing is written.
    ///
    /// A directory does both in one step. In a registry another program may write between the look and the write; [`Store::settle`]
    /// and [`Store::settle_tag`] say when that can be seen.
    async fn retag(&self, descriptor: &Descriptor, tag: &Tag, before: Option<&Digest>) -> Result<bool, StoreError> {
        let now = match self.resolve(&Reference::Tag(tag.clone())).await {
            Ok(now) => Some(now.digest),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        if now.as_ref() != before {
            return Ok(false);
        }
        self.tag(descriptor, tag).await.map(|()| true)
    }

    /// The same for a manifest that is not there yet; what it consists of is.
    async fn push_as(
        &self,
        manifest: &Descriptor,
        bytes: &Bytes,
        tag: &Tag,
        before: Option<&Digest>,
    ) -> Result<bool, StoreError> {
        self.push(manifest, bytes).await?;
        self.retag(manifest, tag, before).await
    }

    /// Takes a tag away, if it still points at `expected`; the manifest stays. True if the tag is gone, also if it did not
    /// exist; false if it points at something else: then nothing is changed.
    ///
    /// A directory does both in one step. A registry is looked at, changed and looked at again: what went with the tag is put
    /// back, and a tag that is listed without a manifest goes as well.
    ///
    /// # Errors
    /// [`StoreError::TagStays`] if the registry deletes neither tags nor manifests; nothing is changed then.
    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError>;

    /// Demands that tags can be taken away here, as far as the store says so without a tag being changed.
    ///
    /// # Errors
    /// As [`Store::untag`], for `tag`.
    async fn demand_untag(&self, tag: &Tag) -> Result<(), StoreError> {
        let _ = tag;
        Ok(())
    }

    /// Waits until what this store wrote where several programs write at once can no longer be overwritten by one that
    /// had read it before: the tag `first-seen`, and those that begin with the name of a digest algorithm, which list
    /// referrers or hold cosign's signatures. Entries of this store that are missing in a list of referrers are written again. A job that
    /// wrote such a tag calls this before it believes what it reads there; if nothing was written, it costs nothing.
    async fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// What refers to the subject after [`Store::settle`]. What that has read is not read again.
    async fn settled_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.settle().await?;
        self.referrers(subject).await
    }

    /// What refers to a subject of which others write the same, or wait until this store has written: without a wait.
    async fn uncontended_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.settled_referrers(subject).await
    }

    /// Waits until a tag that [`Store::retag`] has made can no longer be overwritten by another program that had seen none there.
    /// Of programs that make one tag at the same time, one alone finds its own manifest under it afterwards.
    async fn settle_tag(&self, tag: &Tag) -> Result<(), StoreError> {
        let _ = tag;
        Ok(())
    }

    /// Makes what was written outlast a power cut. It may wait for the disk, so it is called once, at the end of a run. A registry
    /// sees to that itself.
    async fn persist(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Links a blob from another repository of the same registry; false if that is not possible here.
    async fn mount(&self, descriptor: &Descriptor, from: &RepositoryRef) -> Result<bool, StoreError> {
        let _ = (descriptor, from);
        Ok(false)
    }
}

/// The verified content as one piece of memory, for manifests and configs.
///
/// # Errors
/// [`StoreError::TooLarge`] before anything is read if the descriptor claims more than `limit` bytes.
pub async fn fetch_bytes(store: &dyn ReadStore, descriptor: &Descriptor, limit: u64) -> Result<Bytes, StoreError> {
    if descriptor.size > limit {
        return Err(too_large(store.place(), descriptor, limit));
    }
    in_one_piece(store.fetch(descriptor).await?).await
}

/// Everything that a stream brings.
pub(crate) async fn in_one_piece(mut stream: ByteStream) -> Result<Bytes, StoreError> {
    let mut bytes = BytesMut::new();
    while let Some(piece) = stream.try_next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}

fn too_large(place: Place, descriptor: &Descriptor, limit: u64) -> StoreError {
    StoreError::TooLarge { place, what: StoreItem::of(descriptor).to_string(), limit }
}

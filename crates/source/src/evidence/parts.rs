//! The layers of manifests that hold evidence.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tofu_oci_store::StoreError;
use tofu_oci_trust::{Evidence, SIGNATURE_ANNOTATION, SIMPLE_SIGNING_TYPE};
use tofu_oci_types::{Descriptor, Digest};

use super::budget::{Lack, MOST_BYTES};
use super::manifest::{EvidenceLayer, EvidenceManifest};
use super::reader::{EvidenceReader, unreadable};

const CHECKSUMS: &str = "text/plain";
const OPENPGP_SIGNATURE: &str = "application/pgp-signature";
const OPENPGP_KEYS: &str = "application/pgp-keys";

/// Why a manifest gives no evidence.
pub(super) enum NoEvidence {
    Problem(String),
    /// A layer could not be read.
    Store(StoreError),
    /// It would be more than the search may hold.
    Spent,
}

impl From<Lack> for NoEvidence {
    fn from(lack: Lack) -> Self {
        match lack {
            Lack::Spent => Self::Spent,
            Lack::Store(error) => Self::Store(error),
        }
    }
}

impl EvidenceReader<'_> {
    /// Spec: cosign, `specs/BUNDLE_SPEC.md`: the bundle is the only layer.
    pub(super) async fn bundle(&self, origin: &Digest, holder: &EvidenceManifest) -> Result<Vec<Evidence>, NoEvidence> {
        let [layer] = holder.layers() else {
            let problem = format!("a bundle is one layer, and it has {}", holder.layers_in_all());
            return Err(NoEvidence::Problem(problem));
        };
        self.piece()?;
        let bytes = self.content(layer).await?;
        Ok(vec![Evidence::Bundle { origin: origin.clone(), bytes }])
    }

    /// The notice, a bundle or a bare statement, is the only layer.
    pub(super) async fn notice(&self, origin: &Digest, holder: &EvidenceManifest) -> Result<Vec<Evidence>, NoEvidence> {
        let [layer] = holder.layers() else {
            let problem = format!("a notice is one layer, and it has {}", holder.layers_in_all());
            return Err(NoEvidence::Problem(problem));
        };
        self.piece()?;
        let bytes = self.content(layer).await?;
        Ok(vec![Evidence::Notice { origin: origin.clone(), bytes }])
    }

    /// Every layer is one signature; a broken one does not affect the others.
    ///
    /// Spec: cosign, `specs/SIGNATURE_SPEC.md`, "Storage".
    pub(super) async fn signatures(
        &self,
        origin: &Digest,
        holder: &EvidenceManifest,
    ) -> Result<Vec<Evidence>, NoEvidence> {
        let mut found = Vec::new();
        for layer in holder.layers() {
            let Descriptor { media_type, digest, annotations, .. } = &layer.descriptor;
            if media_type != SIMPLE_SIGNING_TYPE {
                continue;
            }
            if !self.budget.take_piece() {
                return Ok(found);
            }
            let Some(signature) = annotations.get(SIGNATURE_ANNOTATION).filter(|text| !text.is_empty()) else {
                found.push(unreadable(origin, format!("its layer {digest} has no signature")));
                continue;
            };
            match self.content(layer).await {
                Ok(payload) => {
                    let signature = signature.clone();
                    found.push(Evidence::CosignTag { origin: origin.clone(), payload, signature });
                }
                Err(Lack::Store(error)) if error.is_of_content() => found.push(unreadable(origin, error.to_string())),
                Err(Lack::Store(error)) => return Err(NoEvidence::Store(error)),
                Err(Lack::Spent) => return Ok(found),
            }
        }
        if found.is_empty() {
            return Err(NoEvidence::Problem("it has no signature".to_owned()));
        }
        Ok(found)
    }

    /// The checksums, with every signature and key beside them.
    pub(super) async fn sums(&self, origin: &Digest, holder: &EvidenceManifest) -> Result<Vec<Evidence>, NoEvidence> {
        let of = |media_type: &'static str| {
            holder.layers().iter().filter(move |layer| layer.descriptor.media_type == media_type)
        };
        let checksums: Vec<&EvidenceLayer> = of(CHECKSUMS).collect();
        let [checksums] = checksums[..] else {
            let problem = format!("it should have one layer of the type {CHECKSUMS}, and has {}", checksums.len());
            return Err(NoEvidence::Problem(problem));
        };
        self.piece()?;
        let sums = self.content(checksums).await?;
        let (mut signatures, mut keys) = (Vec::new(), Vec::new());
        for layer in of(OPENPGP_SIGNATURE) {
            signatures.push(self.content(layer).await?);
        }
        for layer in of(OPENPGP_KEYS) {
            keys.push(self.content(layer).await?);
        }
        Ok(vec![Evidence::Sums { origin: origin.clone(), sums, signatures, keys }])
    }

    /// A layer's bytes, verified: from its descriptor if that carries them, else from the repository.
    async fn content(&self, layer: &EvidenceLayer) -> Result<Vec<u8>, Lack> {
        self.budget.take_bytes(layer.descriptor.size)?;
        match layer.inline() {
            Some(bytes) => Ok(bytes),
            None => self.budget.fetch(self.store, &layer.descriptor).await,
        }
    }

    fn piece(&self) -> Result<(), NoEvidence> {
        if self.budget.take_piece() { Ok(()) } else { Err(NoEvidence::Spent) }
    }
}

impl EvidenceLayer {
    /// The content that the descriptor carries; `None` unless it has the size and digest that the descriptor names.
    ///
    /// Spec: OCI image-spec 1.1.1, descriptor.md, "Embedded Content".
    fn inline(&self) -> Option<Vec<u8>> {
        let data = self.data.as_deref().filter(|_| self.descriptor.size <= MOST_BYTES)?;
        let bytes = STANDARD.decode(data).ok()?;
        let fits = bytes.len() as u64 == self.descriptor.size && self.descriptor.digest.matches(&bytes);
        fits.then_some(bytes)
    }
}

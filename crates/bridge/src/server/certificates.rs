//! The certificate that clients see.

use std::fs::Metadata;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tofu_oci_types::{Event, Reporter};
use tokio_rustls::TlsAcceptor;

use super::error::{CertificateFault, ServeError};
use crate::TlsFiles;

/// No certificate is larger, in bytes.
const LIMIT: u64 = 1 << 20;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_secs(5);

/// A certificate and its key. Of files, a new version is used for new connections.
pub struct ServerCertificates {
    current: RwLock<Arc<ServerConfig>>,
    /// With what they were before they were read, so that any later change is seen.
    files: Option<(TlsFiles, FileStamps)>,
}

/// What shows that a file has changed: the time of its bytes, its size, and on Unix which file it is and the time of
/// its status. A program that copies the time with the bytes changes the latter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamps([Option<(SystemTime, u64, StatusStamp)>; 2]);

/// Inode, and seconds and nanoseconds of the last change of the status; zeros if the system has none.
type StatusStamp = (u64, i64, i64);

impl ServerCertificates {
    /// Reads both files.
    ///
    /// # Errors
    /// If they cannot be read, or do not belong together.
    pub fn of_files(files: TlsFiles) -> Result<Self, ServeError> {
        let stamps = FileStamps::of(&files);
        let current = RwLock::new(Arc::new(load(&files)?));
        Ok(Self { current, files: Some((files, stamps)) })
    }

    /// A certificate, those that signed it, and its key, as PEM.
    ///
    /// # Errors
    /// If they cannot be used, or do not belong together.
    pub fn of_pem(certificate: &[u8], key: &[u8]) -> Result<Self, CertificateFault> {
        Ok(Self { current: RwLock::new(Arc::new(config(certificate, key)?)), files: None })
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Reads the files again whenever they change; those that cannot be used leave the certificate as it is.
    pub(super) async fn watch(&self, reporter: &dyn Reporter) {
        let Some((files, first)) = &self.files else { return };
        let mut seen = first.clone();
        let mut ticks = tokio::time::interval(INTERVAL);
        loop {
            ticks.tick().await;
            self.look(files, &mut seen, reporter);
        }
    }

    fn look(&self, files: &TlsFiles, seen: &mut FileStamps, reporter: &dyn Reporter) {
        let now = FileStamps::of(files);
        if *seen == now {
            return;
        }
        *seen = now;
        reporter.event(&match load(files) {
            Ok(config) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                Event::note(
                    "certificate-reloaded",
                    format!("the certificate {} has changed", files.certificate.display()),
                )
            }
            Err(error) => Event::warning("certificate-not-reloaded", error.to_string())
                .with_hint("the certificate from before stays in use; replace both files"),
        });
    }
}

impl FileStamps {
    fn of(files: &TlsFiles) -> Self {
        let one = |path: &Path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len(), status_stamp(&metadata)))
        };
        Self([one(&files.certificate), one(&files.key)])
    }
}

#[cfg(unix)]
fn status_stamp(file: &Metadata) -> StatusStamp {
    use std::os::unix::fs::MetadataExt as _;
    (file.ino(), file.ctime(), file.ctime_nsec())
}

#[cfg(not(unix))]
fn status_stamp(_file: &Metadata) -> StatusStamp {
    StatusStamp::default()
}

fn load(files: &TlsFiles) -> Result<ServerConfig, ServeError> {
    let read = |path: &Path| {
        tofu_oci_disk::read_file(path, LIMIT).map_err(|error| ServeError::Certificate {
            path: path.to_owned(),
            fault: CertificateFault::Unreadable(error),
        })
    };
    let (certificate, key) = (read(&files.certificate)?, read(&files.key)?);
    config(&certificate, &key).map_err(|fault| ServeError::Certificate { path: files.certificate.clone(), fault })
}

fn unusable(error: rustls::Error) -> CertificateFault {
    match error {
        rustls::Error::InconsistentKeys(_) => CertificateFault::OtherKey,
        error => CertificateFault::Unusable(error),
    }
}

fn config(certificate: &[u8], key: &[u8]) -> Result<ServerConfig, CertificateFault> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(|_| CertificateFault::NoCertificate)?;
    if chain.is_empty() {
        return Err(CertificateFault::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| CertificateFault::NoKey)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(CertificateFault::Unusable)?;
    let mut config = versions.with_no_client_auth().with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Mutex;

    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[derive(Default)]
    struct ReloadCodes(Mutex<Vec<&'static str>>);

    impl Reporter for ReloadCodes {
        fn event(&self, event: &Event) {
            if let Event::Message { code, .. } = event {
                self.0.lock().unwrap().push(code);
            }
        }
    }

    fn write_pair(files: &TlsFiles, name: &str) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().self_signed(&key).unwrap();
        fs::write(&files.certificate, certificate.pem()).unwrap();
        fs::write(&files.key, key.serialize_pem()).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_certificate_that_was_replaced_while_the_server_started_stayed_unseen() {
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles { certificate: folder.path().join("tls.crt"), key: folder.path().join("tls.key") };
        write_pair(&files, "old.example");
        let certificates = ServerCertificates::of_files(files.clone()).unwrap();
        write_pair(&files, "a-longer-name.example");
        let heard = ReloadCodes::default();
        tokio::time::timeout(INTERVAL, certificates.watch(&heard)).await.unwrap_err();
        assert_eq!(*heard.0.lock().unwrap(), ["certificate-reloaded"]);
    }

    /// Those of one maker often have one size, and `cp -p` and `rsync -a` bring the time along.
    #[cfg(unix)]
    #[test]
    fn a_certificate_that_was_replaced_by_one_of_the_same_size_and_time_stayed_unseen() {
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles { certificate: folder.path().join("tls.crt"), key: folder.path().join("tls.key") };
        let time = SystemTime::UNIX_EPOCH + Duration::from_hours(400_000);
        let write = |name| {
            write_pair(&files, name);
            for path in [&files.certificate, &files.key] {
                let text = fs::read_to_string(path).unwrap();
                // Lines after the block change nothing in PEM.
                fs::write(path, format!("{text:\n<2000}")).unwrap();
                fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
            }
        };
        write("old.example");
        let certificates = ServerCertificates::of_files(files.clone()).unwrap();
        let (mut seen, heard) = (FileStamps::of(&files), ReloadCodes::default());
        certificates.look(&files, &mut seen, &heard);
        write("new.example");
        certificates.look(&files, &mut seen, &heard);
        assert_eq!(*heard.0.lock().unwrap(), ["certificate-reloaded"]);
    }

    #[test]
    fn a_replaced_certificate_is_used_and_a_broken_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles { certificate: folder.path().join("tls.crt"), key: folder.path().join("tls.key") };
        write_pair(&files, "old.example");
        let certificates = ServerCertificates::of_files(files.clone()).unwrap();
        let (mut seen, heard) = (FileStamps::of(&files), ReloadCodes::default());
        let used = || Arc::clone(&certificates.current.read().unwrap());
        let first = used();
        certificates.look(&files, &mut seen, &heard);
        fs::write(&files.certificate, "no certificate").unwrap();
        certificates.look(&files, &mut seen, &heard);
        certificates.look(&files, &mut seen, &heard);
        assert!(Arc::ptr_eq(&first, &used()));
        write_pair(&files, "a-longer-name.example");
        certificates.look(&files, &mut seen, &heard);
        assert!(!Arc::ptr_eq(&first, &used()));
        assert_eq!(*heard.0.lock().unwrap(), ["certificate-not-reloaded", "certificate-reloaded"]);
    }
}

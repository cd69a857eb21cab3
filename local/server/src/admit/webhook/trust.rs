//! Which certificates of webhooks are trusted: as Go does, a certificate in the bundle is one too, even
//! if it is its own authority.

use std::io;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// A verifier that trusts the bundle, or the system's authorities if there is none.
pub(super) fn verifier(
    bundle: &[CertificateDer<'static>],
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    if bundle.is_empty() {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    } else {
        roots.add_parsable_certificates(bundle.to_vec());
    }
    if roots.is_empty() {
        return Err("unable to load root certificates: no valid certificate was found".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(Bundled { inner, bundle: bundle.to_vec() }))
}

#[derive(Debug)]
struct Bundled {
    inner: Arc<WebPkiServerVerifier>,
    bundle: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Bundled {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verdict = self.inner.verify_server_cert(leaf, between, name, stapled, now);
        let own = || self.bundle.iter().any(|one| one.as_ref() == leaf.as_ref());
        match verdict {
            // Its times are checked by the authority it is, which webpki did not come to look at.
            Err(Error::InvalidCertificate(CertificateError::Other(_))) if own() => {
                verify_server_name(&ParsedCertificate::try_from(leaf)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Why a connection was not trusted, as Go says it.
pub(super) fn distrust(error: &io::Error, server: &str) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let Some(Error::InvalidCertificate(why)) = inner else { return format!("tls: {error}") };
    let why = match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::NotValidForName => format!("certificate is not valid for {server}"),
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<&str> = presented
                .iter()
                .map(|name| name.split('"').nth(1).unwrap_or(name.as_str()))
                .collect();
            format!("certificate is valid for {}, not {server}", names.join(", "))
        }
        // An authority that nobody named, as the certificate of a server.
        CertificateError::Other(_) => "certificate signed by unknown authority".to_owned(),
        other => format!("{other:?}"),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

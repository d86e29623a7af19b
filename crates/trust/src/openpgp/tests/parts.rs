//! Certificates of which parts are gone, are somebody else's, or are there twice.

use pgp::packet::PacketTrait as _;
use pgp::packet::SubpacketData;
use pgp::ser::Serialize as _;

use super::*;

/// The certificate written again after its packets have been changed.
fn changed(name: &str, change: impl Fn(Packet) -> Option<Packet>) -> Vec<OpenPgpKey> {
    let mut bytes = Vec::new();
    for packet in armor::packets(&read(name)) {
        let packet = packet.unwrap().1.unwrap();
        if let Some(packet) = change(packet) {
            packet.to_writer(&mut bytes).unwrap();
        }
    }
    OpenPgpKey::parse(&bytes).unwrap()
}

#[test]
fn subkey_without_a_signature_in_return() {
    let keys = changed("gpg/ed25519.pgp", |packet| match packet {
        Packet::Signature(mut signature) if signature.typ() == Some(SignatureType::SubkeyBinding) => {
            let unhashed = signature.config().unwrap().unhashed_subpackets();
            let index = unhashed
                .map(|subpacket| &subpacket.data)
                .position(|data| matches!(data, SubpacketData::EmbeddedSignature(_)));
            signature.unhashed_subpacket_remove(index.unwrap()).unwrap();
            Some(Packet::Signature(signature))
        }
        packet => Some(packet),
    });
    let result = verify_detached(&sums(), &read("gpg/ed25519.sig"), &keys, at(NOW));
    assert_eq!(
        told(&result),
        "the subkey [..] of openpgp:[..] is not bound to it: it has not signed the primary key in return",
    );
}

#[test]
fn subkey_of_somebody_else() {
    let file = read("gpg/ed25519.pgp");
    let theirs = armor::packets(&file).map(|packet| packet.unwrap().1.unwrap());
    let theirs: Vec<_> = theirs.skip_while(|packet| packet.tag() != pgp::types::Tag::PublicSubkey).collect();
    let mut bytes = read("gpg/primary.pgp");
    for packet in theirs {
        packet.to_writer(&mut bytes).unwrap();
    }
    let keys = OpenPgpKey::parse(&bytes).unwrap();
    let result = verify_detached(&sums(), &read("gpg/ed25519.sig"), &keys, at(NOW));
    assert_eq!(told(&result), "the subkey [..] of openpgp:[..] is not bound to it: the primary key has not signed it",);
}

#[test]
fn key_that_has_not_signed_itself() {
    let keys = changed("gpg/primary.pgp", |packet| match packet {
        Packet::Signature(_) => None,
        packet => Some(packet),
    });
    let result = verify_detached(&sums(), &read("gpg/primary.sig"), &keys, at(NOW));
    assert_eq!(told(&result), "the primary key of openpgp:[..] is not bound to it: the key has not signed itself",);
}

/// What subkeys sign in return, in the order of the file.
fn returned(name: &str) -> Vec<pgp::packet::Subpacket> {
    let packets: Vec<_> = armor::packets(&read(name)).map(|packet| packet.unwrap().1.unwrap()).collect();
    let mut found = Vec::new();
    for packet in packets {
        if let Packet::Signature(signature) = packet {
            let unhashed = signature.config().unwrap().unhashed_subpackets();
            found.extend(
                unhashed.filter(|subpacket| matches!(subpacket.data, SubpacketData::EmbeddedSignature(_))).cloned(),
            );
        }
    }
    found
}

#[test]
fn subkey_with_the_signature_in_return_of_somebody_else() {
    let theirs = returned("gpg/rsa.pgp").remove(0);
    let keys = changed("gpg/ed25519.pgp", |packet| match packet {
        Packet::Signature(mut signature) if signature.typ() == Some(SignatureType::SubkeyBinding) => {
            let unhashed = signature.config().unwrap().unhashed_subpackets();
            let index = unhashed
                .map(|subpacket| &subpacket.data)
                .position(|data| matches!(data, SubpacketData::EmbeddedSignature(_)));
            signature.unhashed_subpacket_remove(index.unwrap()).unwrap();
            signature.unhashed_subpacket_push(theirs.clone()).unwrap();
            Some(Packet::Signature(signature))
        }
        packet => Some(packet),
    });
    assert!(matches!(keys[0].subkeys[0].bindings.0[0].back, self_signature::Back::Bad));
    let result = verify_detached(&sums(), &read("gpg/ed25519.sig"), &keys, at(NOW));
    assert_eq!(
        told(&result),
        "the subkey [..] of openpgp:[..] is not bound to it: its signature of the primary key does not fit",
    );
}

#[test]
fn weak_digest_of_the_signature_in_return() {
    let mut keys = keys("gpg/md5-binding.pgp");
    keys[0].subkeys[0].bindings.0[0].signature.weak = None;
    let result = verify_detached(&sums(), &read("gpg/md5-binding.sig"), &keys, at(NOW));
    assert!(matches!(result, Err(OpenPgpFault::WeakDigest { of: WeakPart::BackSignature, .. })), "{result:?}");
}

#[test]
fn copies_of_one_certificate_are_one() {
    let (old, new) = (read("gpg/expired-key.pgp"), read("gpg/renewed-key.pgp"));
    for file in [[&old[..], &new].concat(), [&new[..], &old].concat(), new.repeat(3)] {
        let keys = OpenPgpKey::parse(&file).unwrap();
        assert_eq!(keys.len(), 1);
        let result = verify_detached(&sums(), &read("gpg/expired-key.sig"), &keys, at(NOW));
        assert_eq!(told(&result), "good, by the primary key");
    }
    let one = keys("gpg/rsa.pgp").remove(0);
    let file = read("gpg/rsa.pgp").repeat(300);
    let [merged] = OpenPgpKey::parse(&file).unwrap().try_into().unwrap();
    let count = |key: &OpenPgpKey| (key.users.len(), key.subkeys.len(), key.subkeys[0].bindings.0.len());
    assert_eq!(count(&merged), count(&one));
}

#[test]
fn a_copy_from_before_the_revocation_changes_nothing() {
    let both = [keys("gpg/subkey-unknown-before.pgp"), keys("gpg/subkey-unknown.pgp")].concat();
    let result = verify_detached(&sums(), &read("gpg/subkey-unknown.sig"), &both, at(NOW));
    assert!(matches!(result, Err(OpenPgpFault::Revoked { .. })), "{result:?}");
    let files = [read("gpg/subkey-unknown-before.pgp"), read("gpg/subkey-unknown.pgp")].concat();
    let result =
        verify_detached(&sums(), &read("gpg/subkey-unknown.sig"), &OpenPgpKey::parse(&files).unwrap(), at(NOW));
    assert!(matches!(result, Err(OpenPgpFault::Revoked { .. })), "{result:?}");
}

/// The revocation of the primary key by its appointed revoker, dated and typed as one of a subkey that is put behind it.
#[test]
fn subkey_revoked_by_an_appointed_revoker() {
    let subkey = armor::packets(&read("gpg/ed25519.pgp"))
        .map(|packet| packet.unwrap().1.unwrap())
        .find(|packet| packet.tag() == pgp::types::Tag::PublicSubkey)
        .unwrap();
    let (mut certificate, mut revocation) = (Vec::new(), None);
    for packet in armor::packets(&read("gpg/appointed.pgp")).map(|packet| packet.unwrap().1.unwrap()) {
        match packet {
            Packet::Signature(signature) if signature.typ() == Some(SignatureType::KeyRevocation) => {
                let mut body = signature.to_bytes().unwrap();
                body[1] = u8::from(SignatureType::SubkeyRevocation);
                revocation = Some(body);
            }
            packet => packet.to_writer(&mut certificate).unwrap(),
        }
    }
    subkey.to_writer(&mut certificate).unwrap();
    let body = revocation.unwrap();
    certificate.extend([0xc2, 0xff]);
    certificate.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    certificate.extend(body);
    let key = OpenPgpKey::parse(&certificate).unwrap().remove(0);
    assert!(key.revocations.is_empty());
    assert_eq!(key.subkeys.last().unwrap().revocations.len(), 1);
}

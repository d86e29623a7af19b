//! The JSON of a registry.

use serde::de::DeserializeOwned;
use tofu_oci_types::parse_strictly;

/// The members of a document.
///
/// # Errors
/// Why it is not an object with such members, for people.
pub(crate) fn members<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let value = parse_strictly(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
    if !value.is_object() {
        return Err("it is not a JSON object".to_owned());
    }
    serde_json::from_value(value).map_err(|error| format!("it is malformed: {error}"))
}

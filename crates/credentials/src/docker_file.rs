//! Docker's `config.json`, edited the way docker edits it.

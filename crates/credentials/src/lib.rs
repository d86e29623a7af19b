//! Which credential belongs to a repository, chosen from docker and containers files.

//! End-to-end tests: the built program against an in-process registry and against directories.
//!
//! ```text
//! setup        Scene: a registry, a temp folder, the program;  State: everything that must not change
//! push, pack, copy, sign*, versions, resolve, install, lock, providers   what each verb does, one snapshot a behaviour
//! auth_explain*    which file, entry, helper, scope and answer decide about access
//! login*, logout                what is stored for a registry, and where
//! cli_config, explain, config_*     the user's own files: what they decide, and what is said about them
//! credentials*       every kind of source and every way to be refused; what is warned of; options for one command
//! check_*      what is wrong with repositories, lock files and registries, and what OpenTofu is predicted to do
//! bad_*        every kind of bad input: one error, one exit code, nothing changed
//! readme       the guide of the README prints what it says
//! json         every line of --json is what docs/json.md says
//! credentials_replay   every measured case of registry credentials, with files, helpers, token servers
//! secrets, interrupt, requests, help, second_client       what holds for all verbs
//! ```
//!
//! A snapshot is exit code, standard output and standard error, with paths, ports and digests made equal.

mod setup;

mod auth_explain;
mod auth_explain_answers;
mod auth_explain_files;
mod auth_explain_told;
mod auth_explain_wire;
mod bad_dist;
mod bad_download;
mod bad_metadata;
mod bad_package;
mod bad_registry;
mod bad_zip;
mod check_lock;
mod check_registry;
mod check_repository;
mod check_signatures;
mod cli_config;
mod config_check;
mod config_findings;
mod config_snippet;
mod copy;
#[cfg(unix)]
mod credentials;
mod credentials_advice;
#[cfg(unix)]
mod credentials_config;
#[cfg(unix)]
mod credentials_options;
#[cfg(unix)]
mod credentials_refused;
#[cfg(unix)]
mod credentials_replay;
#[cfg(unix)]
mod credentials_told;
mod disk;
mod explain;
mod help;
mod host_services;
mod install;
mod install_refused;
mod interrupt;
mod json;
mod limits;
mod lock;
mod lock_all;
mod lock_refused;
mod login;
mod login_helper;
mod login_refused;
mod login_sources;
mod logout;
mod newcomer;
mod providers;
mod push;
mod query;
mod readme;
mod repositories;
mod requests;
mod second_client;
mod secrets;
mod sign;
mod sign_refused;
mod verify;

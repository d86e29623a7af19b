//! End-to-end tests: the built program against an in-process registry and against directories.
//!
//! ```text
//! setup        Scene: a registry, a temp folder, the program;  State: everything that must not change
//! push, pack, copy, sign*, versions, show, outdated, resolve, install, lock, providers   what each verb does, one snapshot a behaviour
//! module_*      modules: published, pulled from repositories, registries and git
//! auth_explain*    which file, entry, helper, scope and answer decide about access
//! login*, logout                what is stored for a registry, and where
//! cli_config, explain, config_*     the user's own files: what they decide, and what is said about them
//! credentials*       every kind of source and every way to be refused; what is warned of; options for one command
//! check_*      what is wrong with repositories, lock files and registries, and what OpenTofu is predicted to do
//! address, other_platform       releases under a wrong name, packages for the wrong platform
//! test_files   what only the tests of a configuration need
//! locked, dry_run   a lock file that must not change, and runs that change nothing;  lock_off   lock files without `ch:` lines
//! cache*       packages that projects share: checked before each use, fetched once, thinned out
//! small_install*  packages that come by their small layer, and those that come by the zip all the same
//! plugin_cache  what is not linked from it; links in the tree of packages
//! docs         documentation beside a release: published, printed, compared, carried, served
//! withdraw*    a version that goes and comes back; a deprecated one; registries that delete in different ways
//! plain_http   what OpenTofu is predicted to do with a registry without TLS
//! bad_*        every kind of bad input: one error, one exit code, nothing changed
//! folder_places   folders of packages: installed, locked, refused
//! small        `push --small`: a second layer beside each zip, carried and checked
//! run          a command with providers through a bridge: what it gets, signals, exit codes, lock file, leftovers
//! readme       the recipes of the README work; the guide and the tutorial print what they say
//! json         every line of --json is what docs/reference/json.schema.json says
//! credentials_replay   every measured case of registry credentials, with files, helpers, token servers
//! profiles     every verb against registries as they are run;  named_hosts    what --token-host and --plain-http allow
//! sources_replay   every measured case of where providers come from: configuration, methods, lock file
//! notices      what publishers say of a release later, and who heeds it
//! serve        the bridge: what clients need of it, its faults, its secrets, its end
//! help_topics, completion       pages, man pages, what shells complete
//! underscores  namespaces that Terraform alone takes
//! never_waits  a pipe in the place of a file
//! terminal*    what foreign text, files and names do to a terminal, a log or a CI system: nothing
//! secrets, interrupt, requests, help, second_client       what holds for all verbs
//! ```
//!
//! A snapshot is exit code, standard output and standard error, with paths, ports and digests made equal.

mod setup;

mod address;
mod attach;
mod attach_about;
mod auth_explain;
mod auth_explain_answers;
mod auth_explain_files;
mod auth_explain_output;
mod auth_explain_wire;
mod bad_dist;
mod bad_download;
mod bad_metadata;
mod bad_package;
mod bad_registry;
mod bad_zip;
mod bundle;
#[cfg(unix)]
mod cache;
#[cfg(unix)]
mod cache_verbs;
mod check_faults;
mod check_lock;
mod check_module;
mod check_registry;
mod check_repository;
mod check_signatures;
mod chunks;
mod cli_config;
mod cli_config_missing;
mod completion;
mod config_check;
mod config_edit;
mod config_findings;
mod config_snippet;
mod copy;
mod copy_referrers;
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
mod credentials_warnings;
mod disk;
mod docs;
mod dry_run;
mod explain;
mod explain_methods;
mod folder_places;
mod help;
mod help_topics;
mod host_services;
#[cfg(unix)]
mod host_tokens;
mod install;
mod install_refused;
mod interrupt;
mod json;
mod keyless;
mod keyless_modules;
mod keyless_pairs;
mod killed;
mod layout_places;
mod limits;
mod lock;
mod lock_all;
mod lock_followed;
mod lock_manifests;
mod lock_named;
mod lock_off;
mod lock_refused;
mod locked;
mod login;
mod login_helper;
mod login_refused;
mod login_sources;
mod logout;
mod mirror;
mod module_archives;
mod module_attacks;
mod module_bundle;
mod module_elsewhere;
mod module_git;
mod module_inward;
mod module_killed;
mod module_large;
mod module_located;
mod module_lock;
mod module_lock_refused;
mod module_lock_said;
mod module_mirror;
mod module_mirror_gone;
mod module_mirror_moved;
mod module_mirror_rules;
mod module_newcomer;
mod module_places;
mod module_pull;
mod module_push;
mod module_resolve;
mod module_sign;
mod module_verbs;
mod module_words;
mod named;
mod named_hosts;
mod network_mirror;
mod never_waits;
mod newcomer;
mod newcomer_hints;
mod notices;
mod one_place;
mod origin;
mod other_platform;
mod outdated;
mod parallel;
mod plain_http;
#[cfg(unix)]
mod plugin_cache;
mod profiles;
mod progress;
mod promoting;
mod providers;
mod push;
mod query;
mod readme;
mod redirects;
mod repositories;
mod requests;
mod run;
mod run_modules;
mod second_client;
mod secrets;
#[cfg(unix)]
mod secrets_echoed;
#[cfg(unix)]
mod serve;
mod show;
mod sign;
#[cfg(unix)]
mod sign_keyless;
mod sign_refused;
mod small;
#[cfg(unix)]
mod small_install;
mod small_install_refused;
mod sources_replay;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod terminal_files;
mod test_files;
mod too_large;
mod trips;
mod trust_root;
mod two_addresses;
mod underscores;
mod verify;
mod verify_accepted;
mod versions;
mod withdraw;
mod withdraw_broken;
mod withdraw_held;
mod withdraw_refused;
mod words;

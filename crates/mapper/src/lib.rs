//! An address and the user's rules give the places to look in.

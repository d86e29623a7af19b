mod configurations;
mod early;
mod goldens;
mod problems;
mod reading;
mod test_files;

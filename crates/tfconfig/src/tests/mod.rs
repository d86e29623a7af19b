mod configurations;
mod goldens;
mod problems;
mod reading;
mod test_files;

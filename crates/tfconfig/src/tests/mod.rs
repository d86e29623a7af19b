mod configurations;
mod goldens;
mod problems;
mod reading;

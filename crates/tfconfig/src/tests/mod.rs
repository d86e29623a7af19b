mod configurations;
mod goldens;
mod problems;

resource "two_x" "a" {}

resource "one_x" "a" {}

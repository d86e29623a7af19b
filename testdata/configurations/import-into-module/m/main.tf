resource "random_id" "kept" {
  byte_length = 4
}

provider "aws" {
}

resource "aws_s3_bucket" "foo" {
  bucket_name = "foo"
  provider    = aws
}

provider "aws" {
  version = ">= 0.1"
}

resource "aws_s3_bucket" "foo" {
  bucket_name = "foo"
  provider    = aws
}

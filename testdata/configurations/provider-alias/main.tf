provider "aws" {
  region = "us-east-1"
  alias  = "default"
}

resource "aws_s3_bucket" "foo" {
  bucket_name = "foo"
  provider    = aws.default
}

provider "aws" {
  region  = "us-east-1"
  alias   = "default"
  version = 0.124 # Deprecated by required_providers
}

resource "aws_s3_bucket" "foo" {
  bucket_name = "foo"
  provider    = aws.default
}

terraform {
  required_providers {
    modaws = {
      source  = "aws"
      version = ">= 0.1"
    }
  }
}

resource "aws_s3_bucket" "foo" {
  bucket_name = "foo"
  provider    = modaws
}

provider "modaws" {
  region = "us-west-2"
}

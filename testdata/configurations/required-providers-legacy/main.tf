terraform {
  required_providers {
    aws = "0.124"
  }
}

provider "aws" {
  region = "us-east-1"
  alias  = "default"
}

module "my_mod" {
  source = "./mod"
  providers = {
    aws = aws.default
  }
}

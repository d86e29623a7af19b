provider "aws" {
  region  = "us-east-1"
  alias   = "default"
  version = 0.124 # Deprecated by required_providers
}

module "my_mod" {
  source = "./mod"
  providers = {
    aws.foo = aws.default
  }
}

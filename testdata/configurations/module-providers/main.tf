provider "aws" {
  region  = "us-east-1"
  alias   = "default"
  version = 0.124 # Deprecated by required_providers
}

module "my_mod" {
  source = "./mod"
  # Only the un-aliased configurations are passed on when this is left out.
  providers = {
    aws = aws.default
  }
}
